// Computes one_hot: each row is filled with one number, and then the number of the index is written
// over it.
#include "src/ops/one_hot.h"

#include <algorithm>

#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/labels.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/reference/number.h"

namespace cgrun::cpu {
namespace {

struct Parameters {
  int64_t rows = 0;
  int64_t classes = 0;
  double on = 1;
  double off = 0;
  LabelReader index = nullptr;
  int threads = 1;
};

template <class T>
struct Kernel {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const auto* indices = Data<const std::byte>(context, i, 0);
    T* y = Data<T>(context, i, 1);
    const T on = reference::StoreF64<T>(p.on), off = reference::StoreF64<T>(p.off);
    Split(p.threads, p.rows, 1, [&, indices, y](int64_t begin, int64_t end) {
      std::fill(y + begin * p.classes, y + end * p.classes, off);
      for (int64_t row = begin; row < end; ++row) {
        const int64_t index = p.index(indices, row);
        if (index >= 0 && index < p.classes) y[row * p.classes + index] = on;
      }
    });
  }
};

bool Supports(const NodeSignature& node) { return reference::IsComputed(node.outputs[0].dtype); }

PreparedKernel Prepare(const KernelRequest& request) {
  const TensorType& index = request.node.inputs[0];
  const auto& attributes = request.node.attributes.As<OneHotAttributes>();
  return PreparedKernel::Of(
      ForFloat(request.node.outputs[0].dtype,
               []<class T>(T*) -> KernelFunction { return &Kernel<T>::Run; }),
      Parameters{index.shape.Elements(), attributes.classes, attributes.on_value,
                 attributes.off_value, LabelReaderOf(index.dtype), ThreadsFor(request)});
}

}  // namespace

std::vector<KernelDef> one_hot() {
  return {PerElement({.name = "cpu.one_hot", .supports = Supports, .prepare = Prepare})};
}

}  // namespace cgrun::cpu
