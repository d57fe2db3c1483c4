// flip: a strided copy that walks some axes of its input from the end.
#include "src/ops/flip.h"

#include "src/base/check.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided_copy.h"
#include "src/ops/infer.h"

namespace cgrun::reference {
namespace {

PreparedKernel Prepare(const KernelRequest& request) {
  const TensorType& x = request.node.inputs[0];
  const auto axes =
      NormalizeAxes(request.node.attributes.As<FlipAttributes>().axes, x.shape.rank());
  CGRUN_CHECK(axes.has_value());
  const std::vector<int64_t> to = RowMajorStrides(x.shape);
  std::vector<int64_t> from = to;
  int64_t base = 0;
  for (int axis : *axes) {
    int64_t& stride = from[static_cast<size_t>(axis)];
    base += (x.shape[axis].size - 1) * stride;
    stride = -stride;
  }
  return PrepareCopy(x.dtype, {MakeSpace<2>(x.shape.Sizes(), {from, to}), {base, 0}});
}

}  // namespace

KernelDef flip() { return {.name = "reference.flip", .prepare = Prepare}; }

}  // namespace cgrun::reference
