// Computes concat and its gradient: rows of bytes.
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/pack.cuh"
#include "src/ops/concat.h"
#include "src/ops/infer.h"

namespace cgrun::cuda {

// Multiplies the sizes before an axis.
static int64_t RowsBefore(const Shape& shape, int axis) {
  int64_t rows = 1;
  for (int i = 0; i < axis; ++i) rows *= shape[i].size;
  return rows;
}

// `rows` rows of `bytes` bytes, which lie `from_stride` and `to_stride` bytes apart.
struct RowCopy {
  int64_t rows = 1;
  int64_t bytes = 0;
  int64_t from_stride = 0, to_stride = 0;

  // Returns whether rows can be taken as units of `unit` bytes, each at a multiple of it.
  bool Has(int64_t unit) const {
    return bytes % unit == 0 && from_stride % unit == 0 && to_stride % unit == 0;
  }
};

template <class Unit>
struct CopyRowsBody {
  int64_t units;  // of a row
  int64_t from_stride, to_stride;
  const Unit* from;
  Unit* to;
  __device__ void operator()(int64_t e) const {
    const int64_t row = Quotient(e, units), unit = e - row * units;
    to[row * to_stride + unit] = from[row * from_stride + unit];
  }
};

template <class Unit>
static void CopyUnits(const RunContext& context, const RowCopy& p, const std::byte* from,
                      std::byte* to) noexcept {
  constexpr int64_t kSize = sizeof(Unit);
  ForEachElement(
      context, p.rows * (p.bytes / kSize),
      CopyRowsBody<Unit>{p.bytes / kSize, p.from_stride / kSize, p.to_stride / kSize,
                         reinterpret_cast<const Unit*>(from), reinterpret_cast<Unit*>(to)});
}

// Copies the rows without cudaMemcpy2D, whose rows have less than 2 GiB. One of `from` and `to`
// lies `begin` bytes into its first row, the other where its tensor begins.
static void CopyRows(const RunContext& context, const RowCopy& p, const std::byte* from,
                     std::byte* to, int64_t begin) noexcept {
  if (from == to) return;  // the plan has placed it so
  if (begin % 16 == 0 && p.Has(16)) {
    CopyUnits<Pack<uint32_t, 4>>(context, p, from, to);
  } else if (begin % 4 == 0 && p.Has(4)) {
    CopyUnits<uint32_t>(context, p, from, to);
  } else if (begin % 2 == 0 && p.Has(2)) {
    CopyUnits<uint16_t>(context, p, from, to);
  } else {
    CopyUnits<uint8_t>(context, p, from, to);
  }
}

struct ConcatParameters {
  int64_t rows = 1;
  int64_t row_bytes = 0;             // of y
  std::vector<int64_t> input_bytes;  // of each input's part of a row
};

static void RunConcat(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const ConcatParameters*>(i.parameters);
  std::byte* y = Data<std::byte>(context, i, static_cast<int>(p.input_bytes.size()));
  int64_t begin = 0;
  for (size_t input = 0; input < p.input_bytes.size(); ++input) {
    const int64_t bytes = p.input_bytes[input];
    CopyRows(context, {p.rows, bytes, bytes, p.row_bytes},
             Data<const std::byte>(context, i, static_cast<int>(input)), y + begin, begin);
    begin += bytes;
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
  CopyRows(context, {p.rows, p.bytes, p.row_bytes, p.bytes},
           Data<const std::byte>(context, i, 0) + p.begin, Data<std::byte>(context, i, 1), p.begin);
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
