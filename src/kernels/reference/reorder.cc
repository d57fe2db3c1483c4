// Computes reorder between any two layouts, element by element.
#include "src/ops/reorder.h"

#include <cstring>

#include "src/base/check.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

// Says where element i of the row-major order lies in each layout, in bytes.
struct ReorderParameters {
  std::vector<int64_t> from;
  std::vector<int64_t> to;
  int64_t element_bytes;
  int64_t output_bytes;
};

void RunReorder(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const ReorderParameters*>(i.parameters);
  const std::byte* x = Data<const std::byte>(context, i, 0);
  std::byte* y = Data<std::byte>(context, i, 1);
  std::memset(y, 0, static_cast<size_t>(p.output_bytes));
  for (size_t e = 0; e < p.from.size(); ++e) {
    std::memcpy(y + p.to[e], x + p.from[e], static_cast<size_t>(p.element_bytes));
  }
}

bool Advance(std::vector<int64_t>& index, const Shape& shape) {
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (++index[static_cast<size_t>(axis)] < shape[axis].size) return true;
    index[static_cast<size_t>(axis)] = 0;
  }
  return false;
}

PreparedKernel PrepareReorder(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  const auto& attributes = request.node.attributes.As<ReorderAttributes>();
  Layout from, to;
  CGRUN_CHECK(Layout::Parse(attributes.from, &from) && Layout::Parse(attributes.to, &to));
  ReorderParameters p{{}, {}, SizeOf(type.dtype), ByteSize(type, to)};
  std::vector<int64_t> index(static_cast<size_t>(type.shape.rank()));
  const int64_t elements = type.shape.Elements();
  for (int64_t e = 0; e < elements; ++e) {
    p.from.push_back(ElementOffset(type.shape, from, index) * p.element_bytes);
    p.to.push_back(ElementOffset(type.shape, to, index) * p.element_bytes);
    Advance(index, type.shape);
  }
  return PreparedKernel::Of(&RunReorder, std::move(p));
}

void Layouts(const NodeSignature& node, KernelOption* option) {
  const auto& attributes = node.attributes.As<ReorderAttributes>();
  CGRUN_CHECK(Layout::Parse(attributes.from, &option->input_layouts[0]));
  CGRUN_CHECK(Layout::Parse(attributes.to, &option->output_layouts[0]));
}

}  // namespace

KernelDef reorder() {
  return {.name = "reference.reorder", .prepare = PrepareReorder, .layouts = Layouts};
}

}  // namespace cgrun::reference
