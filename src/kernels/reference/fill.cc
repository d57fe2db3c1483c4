// Computes fill: one number everywhere.
#include "src/ops/fill.h"

#include <algorithm>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

struct FillParameters {
  int64_t elements;
  double value;
};

template <class T>
struct Fill {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const FillParameters*>(i.parameters);
    std::fill_n(Data<T>(context, i, 1), p.elements, StoreF64<T>(p.value));
  }
};

PreparedKernel PrepareFill(const KernelRequest& request) {
  const TensorType& type = request.node.outputs[0];
  return PreparedKernel::Of(
      ForFloat<Fill>(type.dtype),
      FillParameters{type.shape.Elements(), request.node.attributes.As<FillAttributes>().value});
}

}  // namespace

KernelDef fill() {
  return {.name = "reference.fill", .supports = AllFloat, .prepare = PrepareFill};
}

}  // namespace cgrun::reference
