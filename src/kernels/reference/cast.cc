// Computes cast between any two number types: one loop reads a part as wide numbers, and writes
// them as the other type.
#include <algorithm>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/kernels/wide_cast.h"

namespace cgrun::reference {
namespace {

constexpr int64_t kPart = 256;  // elements

template <class W>
using ReadPart = void (*)(const std::byte* x, int64_t first, int64_t count, W* wide) noexcept;
template <class W>
using WritePart = void (*)(const W* wide, int64_t first, int64_t count, std::byte* y) noexcept;

template <class T>
void Read(const std::byte* x, int64_t first, int64_t count, kernels::Wide<T>* wide) noexcept {
  const T* from = reinterpret_cast<const T*>(x) + first;
  for (int64_t e = 0; e < count; ++e) wide[e] = kernels::Widen(from[e]);
}

template <class T, class W>
void Write(const W* wide, int64_t first, int64_t count, std::byte* y) noexcept {
  T* to = reinterpret_cast<T*>(y) + first;
  for (int64_t e = 0; e < count; ++e) to[e] = kernels::Narrow<T>(wide[e]);
}

template <class W>
struct CastParameters {
  int64_t elements = 0;
  ReadPart<W> read = nullptr;
  WritePart<W> write = nullptr;
};

template <class W>
void RunCast(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const CastParameters<W>*>(i.parameters);
  const auto* x = Data<const std::byte>(context, i, 0);
  auto* y = Data<std::byte>(context, i, 1);
  W wide[kPart];
  for (int64_t first = 0; first < p.elements; first += kPart) {
    const int64_t count = std::min(kPart, p.elements - first);
    p.read(x, first, count, wide);
    p.write(wide, first, count, y);
  }
}

PreparedKernel PrepareCast(const KernelRequest& request) {
  const TensorType& x = request.node.inputs[0];
  return ForAnyType<BFloat16>(x.dtype, [&]<class From>(From*) {
    using W = kernels::Wide<From>;
    CastParameters<W> p{x.shape.Elements(), &Read<From>};
    p.write = ForAnyType<BFloat16>(request.node.outputs[0].dtype, []<class To>(To*) {
      return static_cast<WritePart<W>>(&Write<To, W>);
    });
    return PreparedKernel::Of(&RunCast<W>, p);
  });
}

}  // namespace

KernelDef cast() { return {.name = "reference.cast", .prepare = PrepareCast}; }

}  // namespace cgrun::reference
