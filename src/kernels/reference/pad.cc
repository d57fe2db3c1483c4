// pad: fills the output, then copies the input into its middle.
#include "src/ops/pad.h"

#include <cstring>

#include "src/base/host_tensor.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided_copy.h"

namespace cgrun::reference {
namespace {

uint64_t BitsOf(DType dtype, double value) {
  HostTensor element(dtype, Shape());
  element.Set(0, value);
  uint64_t bits = 0;
  std::memcpy(&bits, element.bytes().data(), element.bytes().size());  // little-endian
  return bits;
}

bool Supports(const NodeSignature& node) { return node.inputs[0].dtype != DType::kF16; }

PreparedKernel Prepare(const KernelRequest& request) {
  return PrepareFillAndCopy(request.node.inputs[0].dtype, PlanPad(request.node));
}

}  // namespace

FillAndCopyPlan PlanPad(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<PadAttributes>();
  const Shape& x = node.inputs[0].shape;
  const Shape& y = node.outputs[0].shape;
  const PadWidths widths = WidthsOf(attributes, x.rank());
  const std::vector<int64_t> strides = RowMajorStrides(y);
  int64_t base = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis) base += widths.before[axis] * strides[axis];
  return {{MakeSpace<2>(x.Sizes(), {RowMajorStrides(x), strides}), {0, base}},
          y.Elements(),
          BitsOf(node.inputs[0].dtype, attributes.value)};
}

KernelDef pad() { return {.name = "reference.pad", .supports = Supports, .prepare = Prepare}; }

}  // namespace cgrun::reference
