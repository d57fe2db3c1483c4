// Computes concat and its gradient. Both copy rows of bytes, which the threads share. They run on
// plain tensors. If each part is one of whole blocks, they also run in the layout in which an input
// comes.
#include "src/ops/concat.h"

#include <algorithm>

#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/strided_copy.h"
#include "src/ops/infer.h"

namespace cgrun::cpu {
namespace {

// `rows` rows of bytes as a space of two operands, whose rows are this long.
StridedSpace<2> RowsOf(int64_t rows, int64_t bytes, int64_t from_row, int64_t to_row) {
  return MakeSpace<2>({rows, bytes}, {{{from_row, 1}, {to_row, 1}}});
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
    if (x == y + part.begin) continue;  // the plan has placed it so
    SplitRows(part.space, {0, part.begin}, p.threads,
              [&](const auto& at, int64_t begin, int64_t end) {
                CopyRow(part.space, x + at[0], y + at[1], begin, end);
              });
  }
}

int AxisOf(const NodeSignature& node) {
  return *NormalizeAxis(node.attributes.As<ConcatAttributes>().axis, node.outputs[0].shape.rank());
}

PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const TensorType& y = node.outputs[0];
  const Layout& layout = request.operands.back().layout;
  const int64_t rows = RowsAround(y.shape, layout, AxisOf(node));
  Parameters p{{}, ThreadsFor(request)};
  int64_t begin = 0;
  for (const TensorType& x : node.inputs) {
    const int64_t bytes = ByteSize(x, layout) / rows;
    p.parts.push_back({RowsOf(rows, bytes, bytes, ByteSize(y, layout) / rows), begin});
    begin += bytes;
  }
  return PreparedKernel::Of(&Run, std::move(p));
}

// In the layout of the first input whose layout fits all of them.
bool ChooseLayout(const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
  const int axis = AxisOf(node);
  const auto fits = [&](const Layout& layout) {
    return !layout.IsPlain() && std::ranges::all_of(node.inputs, [&](const TensorType& x) {
      return HasWholeBlocks(layout, axis, x.shape[axis].size);
    });
  };
  const auto layout = std::ranges::find_if(setting.layouts, fits);
  if (layout == setting.layouts.end()) return false;
  std::ranges::fill(option->input_layouts, *layout);
  option->output_layouts[0] = *layout;
  return true;
}

PreparedKernel PrepareGrad(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<ConcatGradAttributes>();
  const TensorType &dy = node.inputs[0], &dx = node.outputs[0];
  const Layout& layout = request.operands[0].layout;
  const int axis = *NormalizeAxis(attributes.axis, dy.shape.rank());
  const int64_t rows = RowsAround(dy.shape, layout, axis);
  const int64_t bytes = ByteSize(dx, layout) / rows, whole = ByteSize(dy, layout) / rows;
  const int64_t begin = bytes / attributes.size[0].size * attributes.begin[0].size;
  return PreparedKernel::Of(
      &StridedCopy<uint8_t>::Run,
      CopyParameters{{RowsOf(rows, bytes, whole, bytes), {begin, 0}}, ThreadsFor(request)});
}

bool ChooseGradLayout(const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
  const auto& attributes = node.attributes.As<ConcatGradAttributes>();
  const int axis = *NormalizeAxis(attributes.axis, node.inputs[0].shape.rank());
  if (setting.layouts.empty() || setting.layouts[0].IsPlain()) return false;
  if (!HasWholeBlocks(setting.layouts[0], axis, attributes.begin[0].size)) return false;
  if (!HasWholeBlocks(setting.layouts[0], axis, attributes.size[0].size)) return false;
  option->input_layouts[0] = option->output_layouts[0] = setting.layouts[0];
  return true;
}

}  // namespace

std::vector<KernelDef> concat() {
  return {{.name = "cpu.concat", .prepare = Prepare},
          {.name = "cpu.concat.blocks", .prepare = Prepare, .choose = ChooseLayout}};
}
std::vector<KernelDef> concat_grad() {
  return {{.name = "cpu.concat_grad", .prepare = PrepareGrad},
          {.name = "cpu.concat_grad.blocks", .prepare = PrepareGrad, .choose = ChooseGradLayout}};
}

}  // namespace cgrun::cpu
