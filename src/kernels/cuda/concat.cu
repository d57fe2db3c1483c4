// concat and its gradient: rows of bytes.
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/ops/concat.h"
#include "src/ops/infer.h"

namespace cgrun::cuda {

// The product of the sizes before an axis.
static int64_t RowsBefore(const Shape& shape, int axis) {
  int64_t rows = 1;
  for (int i = 0; i < axis; ++i) rows *= shape[i].size;
  return rows;
}

// `rows` rows of `bytes` bytes, which lie `from_stride` and `to_stride` bytes apart.
static void CopyRows(const RunContext& context, const std::byte* from, int64_t from_stride,
                     std::byte* to, int64_t to_stride, int64_t bytes, int64_t rows) noexcept {
  if (bytes == 0 || rows == 0) return;
  cudaMemcpy2DAsync(to, static_cast<size_t>(to_stride), from, static_cast<size_t>(from_stride),
                    static_cast<size_t>(bytes), static_cast<size_t>(rows), cudaMemcpyDeviceToDevice,
                    StreamOf(context));
}

struct ConcatParameters {
  int64_t rows = 1;
  int64_t row_bytes = 0;             // of y
  std::vector<int64_t> input_bytes;  // of each input's part of a row
};

static void RunConcat(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const ConcatParameters*>(i.parameters);
  std::byte* y = Data<std::byte>(context, i, static_cast<int>(p.input_bytes.size()));
  for (size_t input = 0; input < p.input_bytes.size(); ++input) {
    const int64_t bytes = p.input_bytes[input];
    CopyRows(context, Data<const std::byte>(context, i, static_cast<int>(input)), bytes, y,
             p.row_bytes, bytes, p.rows);
    y += bytes;
  }
}

static PreparedKernel PrepareConcat(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const int axis =
      *NormalizeAxis(node.attributes.As<ConcatAttributes>().axis, node.outputs[0].shape.rank());
  ConcatParameters p;
  p.rows = RowsBefore(node.outputs[0].shape, axis);
  p.row_bytes = ByteSize(node.outputs[0]) / p.rows;
  for (const TensorType& type : node.inputs) p.input_bytes.push_back(ByteSize(type) / p.rows);
  return PreparedKernel::Of(&RunConcat, std::move(p));
}

struct ConcatGradParameters {
  int64_t rows = 1;
  int64_t row_bytes = 0;  // of dy
  int64_t begin = 0;      // of the part, in bytes
  int64_t bytes = 0;      // of the part
};

static void RunConcatGrad(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const ConcatGradParameters*>(i.parameters);
  CopyRows(context, Data<const std::byte>(context, i, 0) + p.begin, p.row_bytes,
           Data<std::byte>(context, i, 1), p.bytes, p.bytes, p.rows);
}

static PreparedKernel PrepareConcatGrad(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<ConcatGradAttributes>();
  const Shape& whole = node.inputs[0].shape;
  const int axis = *NormalizeAxis(attributes.axis, whole.rank());
  ConcatGradParameters p;
  p.rows = RowsBefore(whole, axis);
  p.row_bytes = ByteSize(node.inputs[0]) / p.rows;
  p.begin = p.row_bytes / whole[axis].size * attributes.begin[0].size;
  p.bytes = ByteSize(node.outputs[0]) / p.rows;
  return PreparedKernel::Of(&RunConcatGrad, p);
}

KernelDef concat() { return {.name = "cuda.concat", .prepare = PrepareConcat}; }
KernelDef concat_grad() { return {.name = "cuda.concat_grad", .prepare = PrepareConcatGrad}; }

}  // namespace cgrun::cuda
