// Computes concat and its gradient: rows of bytes.
#include "src/ops/concat.h"

#include <cstring>

#include "src/kernels/reference/kernels.h"
#include "src/ops/infer.h"

namespace cgrun::reference {
namespace {

// Multiplies the sizes before an axis.
int64_t RowsBefore(const Shape& shape, int axis) {
  int64_t rows = 1;
  for (int i = 0; i < axis; ++i) rows *= shape[i].size;
  return rows;
}

struct ConcatParameters {
  int64_t rows = 1;
  int64_t row_bytes = 0;             // of y
  std::vector<int64_t> input_bytes;  // of each input's part of a row
};

void RunConcat(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const ConcatParameters*>(i.parameters);
  std::byte* y = Data<std::byte>(context, i, static_cast<int>(p.input_bytes.size()));
  for (size_t input = 0; input < p.input_bytes.size(); ++input) {
    const std::byte* x = Data<const std::byte>(context, i, static_cast<int>(input));
    const int64_t bytes = p.input_bytes[input];
    const bool lies_there = x == y;  // the plan has placed it so
    for (int64_t row = 0; row < p.rows && !lies_there; ++row) {
      std::memcpy(y + row * p.row_bytes, x + row * bytes, static_cast<size_t>(bytes));
    }
    y += bytes;
  }
}

PreparedKernel PrepareConcat(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const int axis =
      *NormalizeAxis(node.attributes.As<ConcatAttributes>().axis, node.outputs[0].shape.rank());
  ConcatParameters p;
  p.rows = RowsBefore(node.outputs[0].shape, axis);
  p.row_bytes = ByteSize(node.outputs[0]) / p.rows;
  for (const TensorType& type : node.inputs) p.input_bytes.push_back(ByteSize(type) / p.rows);
  return PreparedKernel::Of(&RunConcat, std::move(p));
}

struct PartParameters {
  int64_t rows = 1;
  int64_t row_bytes = 0;  // of dy
  int64_t begin = 0;      // of the part, in bytes
  int64_t bytes = 0;      // of the part
};

void RunPart(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const PartParameters*>(i.parameters);
  const std::byte* dy = Data<const std::byte>(context, i, 0) + p.begin;
  std::byte* dx = Data<std::byte>(context, i, 1);
  if (dx == dy) return;  // the plan has placed it so
  for (int64_t row = 0; row < p.rows; ++row) {
    std::memcpy(dx + row * p.bytes, dy + row * p.row_bytes, static_cast<size_t>(p.bytes));
  }
}

PreparedKernel PreparePart(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<ConcatGradAttributes>();
  const Shape& whole = node.inputs[0].shape;
  const int axis = *NormalizeAxis(attributes.axis, whole.rank());
  PartParameters p;
  p.rows = RowsBefore(whole, axis);
  p.row_bytes = ByteSize(node.inputs[0]) / p.rows;
  p.begin = p.row_bytes / whole[axis].size * attributes.begin[0].size;
  p.bytes = ByteSize(node.outputs[0]) / p.rows;
  return PreparedKernel::Of(&RunPart, p);
}

}  // namespace

KernelDef concat() { return {.name = "reference.concat", .prepare = PrepareConcat}; }
KernelDef concat_grad() { return {.name = "reference.concat_grad", .prepare = PreparePart}; }

}  // namespace cgrun::reference
