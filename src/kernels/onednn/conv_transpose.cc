// conv_transpose as oneDNN's deconvolution, which is a convolution's gradient with a bias: like
// that it chooses the layouts.
#include "src/ops/conv_transpose.h"

#include "src/kernels/onednn/conv.h"
#include "src/kernels/onednn/conv_descs.h"

namespace cgrun::onednn {
namespace {

using Forward = dnnl::deconvolution_forward;
using Desc = dnnl::memory::desc;

// oneDNN calls the axes of a weight [filters, channels, …], which lie in memory as ours do,
// [channels, filters, …]: those two are exchanged, behind an axis of groups.
Desc Exchanged(const Desc& desc) {
  return desc.permute_axes(desc.data.ndims == 5 ? std::vector<int>{0, 2, 1, 3, 4}
                                                : std::vector<int>{1, 0, 2, 3});
}

Desc Weights(const TensorType& type, int64_t groups, const Layout* layout) {
  if (groups > 1) return Exchanged(GroupedWeights(type, groups));
  if (layout != nullptr) return Exchanged(Describe(type, *layout));
  const Shape& shape = type.shape;
  return DescribeAny({type.dtype, {shape[1], shape[0], shape[2], shape[3]}});
}

Forward::primitive_desc DescOf(const NodeSignature& node, Layouts layouts) {
  const auto& attributes = node.attributes.As<ConvTransposeAttributes>();
  const WindowDims window = WindowDimsOf(node.outputs[0].shape, attributes.window());
  const bool bias = node.inputs.size() == 3;
  const Forward::desc desc(dnnl::prop_kind::forward_training, dnnl::algorithm::deconvolution_direct,
                           Tensor(node.inputs[0], At(layouts, 0)),
                           Weights(node.inputs[1], attributes.groups, At(layouts, 1)),
                           bias ? Describe(node.inputs[2], Layout()) : Desc(),
                           Tensor(node.outputs[0], At(layouts, node.inputs.size())), window.strides,
                           window.dilates, window.before, window.after);
  return {desc, Attributes(), Engine()};
}

// oneDNN wants the convolution from y back to x to have all its outputs in x.
bool Supports(const NodeSignature& node) {
  if (!SupportsConv(node)) return false;
  const Shape& x = node.inputs[0].shape;
  const Window window =
      WindowOf(node.outputs[0].shape, node.attributes.As<ConvTransposeAttributes>().window());
  return window.y.output == x[2].size && window.x.output == x[3].size;
}

double Seconds(const NodeSignature& node, int threads) {
  const int64_t groups = node.attributes.As<ConvTransposeAttributes>().groups;
  const int64_t channels = node.inputs[0].shape[1].size, filters = node.outputs[0].shape[1].size;
  return BlockedSeconds(node, channels / groups, filters / groups) / threads;
}

bool ChooseLayouts(const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
  return Try([&] {
    const auto desc = WithThreads<DescOf>(node, nullptr, setting.threads);
    option->workspace_bytes = ScratchBytes(desc.scratchpad_desc());
    return IsFast(desc) && Choose(desc.src_desc(), &option->input_layouts[0]) &&
           Choose(Exchanged(desc.weights_desc()), &option->input_layouts[1]) &&
           Choose(desc.dst_desc(), &option->output_layouts[0]);
  });
}

PreparedKernel Prepare(const KernelRequest& request) {
  const auto desc = WithThreads<DescOf>(request.node, &request.operands, request.threads);
  const int y = static_cast<int>(request.node.inputs.size());
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, 0, desc.src_desc()},
                                     {DNNL_ARG_WEIGHTS, 1, desc.weights_desc()},
                                     {DNNL_ARG_DST, y, desc.dst_desc()}};
  if (y == 3) arguments.push_back({DNNL_ARG_BIAS, 2, desc.bias_desc()});
  AddScratch(desc.scratchpad_desc(), y + 1, arguments);
  return PrepareRun(Forward(desc), arguments);
}

}  // namespace

KernelDef conv_transpose() {
  return {.name = "onednn.conv_transpose",
          .supports = Supports,
          .prepare = Prepare,
          .choose = ChooseLayouts,
          .seconds = Seconds};
}

}  // namespace cgrun::onednn
