// flip: a strided copy that walks some axes of its input from the end.
#include "src/ops/flip.h"

#include "src/base/check.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided_copy.h"
#include "src/ops/infer.h"

namespace cgrun::reference {
namespace {

PreparedKernel Prepare(const KernelRequest& request) {
  return PrepareCopy(request.node.inputs[0].dtype, PlanFlip(request.node));
}

}  // namespace

CopyPlan PlanFlip(const NodeSignature& node) {
  const Shape& x = node.inputs[0].shape;
  const auto axes = NormalizeAxes(node.attributes.As<FlipAttributes>().axes, x.rank());
  CGRUN_CHECK(axes.has_value());
  const std::vector<int64_t> to = RowMajorStrides(x);
  std::vector<int64_t> from = to;
  int64_t base = 0;
  for (int axis : *axes) {
    int64_t& stride = from[static_cast<size_t>(axis)];
    base += (x[axis].size - 1) * stride;
    stride = -stride;
  }
  return {MakeSpace<2>(x.Sizes(), {from, to}), {base, 0}};
}

KernelDef flip() { return {.name = "reference.flip", .prepare = Prepare}; }

}  // namespace cgrun::reference
