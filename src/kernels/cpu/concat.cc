// concat and its gradient: rows of bytes, shared out among the threads.
#include "src/ops/concat.h"

#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/strided_copy.h"
#include "src/ops/infer.h"

namespace cgrun::cpu {
namespace {

// `rows` rows of bytes as a space of two operands, whose rows are this long.
StridedSpace<2> RowsOf(int64_t rows, int64_t bytes, int64_t from_row, int64_t to_row) {
  return MakeSpace<2>({rows, bytes}, {{{from_row, 1}, {to_row, 1}}});
}

int64_t RowsBefore(const Shape& shape, int axis) {
  int64_t rows = 1;
  for (int i = 0; i < axis; ++i) rows *= shape[i].size;
  return rows;
}

struct Part {
  StridedSpace<2> space;
  int64_t begin = 0;  // in a row of y, in bytes
};

struct Parameters {
  std::vector<Part> parts;  // one an input
  int threads = 1;
};

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  auto* y = Data<uint8_t>(context, i, static_cast<int>(p.parts.size()));
  for (size_t input = 0; input < p.parts.size(); ++input) {
    const Part& part = p.parts[input];
    const auto* x = Data<const uint8_t>(context, i, static_cast<int>(input));
    SplitRows(part.space, {0, part.begin}, p.threads,
              [&](const auto& at, int64_t begin, int64_t end) {
                CopyRow(part.space, x + at[0], y + at[1], begin, end);
              });
  }
}

PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const TensorType& y = node.outputs[0];
  const int axis = *NormalizeAxis(node.attributes.As<ConcatAttributes>().axis, y.shape.rank());
  const int64_t rows = RowsBefore(y.shape, axis);
  Parameters p{{}, ThreadsFor(request)};
  int64_t begin = 0;
  for (const TensorType& x : node.inputs) {
    const int64_t bytes = ByteSize(x) / rows;
    p.parts.push_back({RowsOf(rows, bytes, bytes, ByteSize(y) / rows), begin});
    begin += bytes;
  }
  return PreparedKernel::Of(&Run, std::move(p));
}

PreparedKernel PrepareGrad(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<ConcatGradAttributes>();
  const TensorType &dy = node.inputs[0], &dx = node.outputs[0];
  const int axis = *NormalizeAxis(attributes.axis, dy.shape.rank());
  const int64_t rows = RowsBefore(dy.shape, axis);
  const int64_t bytes = ByteSize(dx) / rows, whole = ByteSize(dy) / rows;
  const int64_t begin = whole / dy.shape[axis].size * attributes.begin[0].size;
  return PreparedKernel::Of(
      &StridedCopy<uint8_t>::Run,
      CopyParameters{{RowsOf(rows, bytes, whole, bytes), {begin, 0}}, ThreadsFor(request)});
}

}  // namespace

std::vector<KernelDef> concat() { return {{.name = "cpu.concat", .prepare = Prepare}}; }
std::vector<KernelDef> concat_grad() {
  return {{.name = "cpu.concat_grad", .prepare = PrepareGrad}};
}

}  // namespace cgrun::cpu
