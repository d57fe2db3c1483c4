// Computes conv_transpose by oneDNN's gradient of a convolution, and its addition for the bias. The
// layouts are those that the gradient chooses.
#include "src/ops/conv_transpose.h"

#include <algorithm>
#include <utility>

#include "src/kernels/onednn/conv.h"
#include "src/kernels/onednn/primitive.h"
#include "src/ops/conv.h"

namespace cgrun::onednn {
namespace {

// Returns the node without its bias as conv_input_grad of (x, weight).
NodeSignature GradOf(const NodeSignature& node) {
  const auto& a = node.attributes.As<ConvTransposeAttributes>();
  return {OpId::conv_input_grad,
          Attributes::Of(ConvGradAttributes{node.outputs[0].shape, a.kernel, a.stride, a.padding,
                                            a.dilation, a.groups}),
          {node.inputs[0], node.inputs[1]},
          node.outputs,
          {}};
}

// Describes y ← y + bias.
dnnl::binary::primitive_desc BiasDesc(const NodeSignature& node, const Layout& layout,
                                      int threads) {
  SetThreads(threads);
  const TensorType& y = node.outputs[0];
  const dnnl::memory::desc desc = Describe(y, layout);
  const dnnl::memory::desc bias = Describe({y.dtype, {1, y.shape[1], 1, 1}}, Layout());
  return {dnnl::binary::desc(dnnl::algorithm::binary_add, desc, bias, desc), Attributes(),
          Engine()};
}

struct Parameters {
  PreparedKernel grad;
  PreparedKernel bias;
};

// x, weight, bias, y and the workspace, if there is one; the gradient has no bias.
void RunWithBias(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const Operand* all = i.operands;
  const Operand operands[] = {all[0], all[1], all[3], i.operand_count > 4 ? all[4] : Operand()};
  p.grad.run(context, {p.grad.run, operands, p.grad.parameters.get(), i.operand_count - 1, i.node});
  p.bias.run(context, {p.bias.run, all, p.bias.parameters.get(), i.operand_count, i.node});
}

// oneDNN wants the convolution from y back to x to have all its outputs in x.
bool Supports(const NodeSignature& node) {
  const Shape &x = node.inputs[0].shape, &y = node.outputs[0].shape;
  if (!conv_input_grad().supports(GradOf(node))) return false;
  const Window window = WindowOf(y, node.attributes.As<ConvTransposeAttributes>().window());
  return window.y.output == x[2].size && window.x.output == x[3].size;
}

double Seconds(const NodeSignature& node, int threads) {
  return conv_input_grad().seconds(GradOf(node), threads);
}

bool Choose(const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
  KernelOption grad = *option;
  grad.input_layouts.resize(2);
  if (!conv_input_grad().choose(GradOf(node), setting, &grad)) return false;
  option->workspace_bytes = grad.workspace_bytes;
  std::copy(grad.input_layouts.begin(), grad.input_layouts.end(), option->input_layouts.begin());
  option->output_layouts = grad.output_layouts;
  if (node.inputs.size() == 2) return true;
  return Try([&] {
    const auto bias = BiasDesc(node, grad.output_layouts[0], setting.threads);
    const auto scratch = static_cast<int64_t>(bias.scratchpad_desc().get_size());
    option->workspace_bytes = std::max(option->workspace_bytes, scratch);
    return IsFast(bias);
  });
}

PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature &node = request.node, grad = GradOf(node);
  const OperandLayout& y = request.operands.back();
  const KernelRequest of_grad{grad, {request.operands[0], request.operands[1], y}, request.threads};
  PreparedKernel prepared = conv_input_grad().prepare(of_grad);
  if (node.inputs.size() == 2) return prepared;
  const auto bias = BiasDesc(node, y.layout, request.threads);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC_0, 3, bias.src0_desc()},
                                     {DNNL_ARG_SRC_1, 2, bias.src1_desc()},
                                     {DNNL_ARG_DST, 3, bias.dst_desc()}};
  AddScratch(bias.scratchpad_desc(), 4, arguments);
  return PreparedKernel::Of(
      &RunWithBias, Parameters{std::move(prepared), PrepareRun(dnnl::binary(bias), arguments)});
}

}  // namespace

KernelDef conv_transpose() {
  return {.name = "onednn.conv_transpose",
          .supports = Supports,
          .prepare = Prepare,
          .choose = Choose,
          .seconds = Seconds};
}

}  // namespace cgrun::onednn
