// Computes the gradient of the input of a convolution of 1 × 1 elements that moves by one. It is a
// convolution of dy with the transposed weights. If a processor multiplies tiles of bf16 (AMX),
// oneDNN's forward convolutions are faster than its gradients.
#include <utility>

#include "src/kernels/onednn/conv.h"
#include "src/kernels/onednn/primitive.h"
#include "src/ops/conv.h"

namespace cgrun::onednn {
namespace {

using Desc = dnnl::memory::desc;
using Forward = dnnl::convolution_forward;

// The speed of one thread was measured: 600e9 to 1,300e9 with two threads.
constexpr double kFlopsPerSecond = 400e9;

bool Supports(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<ConvGradAttributes>();
  const Window window = WindowOf(attributes.input, attributes.window());
  const auto fits = [](const TensorType& type) {
    return type.dtype == DType::kBF16 && type.shape.Elements() > 0;
  };
  return MultipliesTiles() && attributes.groups == 1 && IsPointwise(window.y) &&
         IsPointwise(window.x) && fits(node.inputs[0]) && fits(node.inputs[1]) &&
         fits(node.outputs[0]);
}

double Seconds(const NodeSignature& node, int threads) {
  return static_cast<double>(CostOf(node).flops) / kFlopsPerSecond / threads;
}

// Weights [F, C, 1, 1] as [C, F, 1, 1], and the layout of the one for the other.
TensorType Transposed(const TensorType& weight) {
  return {weight.dtype, {weight.shape[1], weight.shape[0], weight.shape[2], weight.shape[3]}};
}
Layout Transposed(Layout layout) {
  const auto swap = [](int axis) { return axis < 2 ? 1 - axis : axis; };
  if (layout.order.empty()) layout.order = {0, 1, 2, 3};
  for (int& axis : layout.order) axis = swap(axis);
  for (Layout::Block& block : layout.blocks) block.axis = swap(block.axis);
  return layout;
}

// If `weight` is null, oneDNN chooses the layout of the weights.
Forward::primitive_desc InputGradDesc(const NodeSignature& node, const Layout* weight,
                                      int threads) {
  SetThreads(threads);
  const TensorType transposed = Transposed(node.inputs[1]);
  const Desc w = weight == nullptr ? DescribeAny(transposed) : Describe(transposed, *weight);
  return {Forward::desc(dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct,
                        Describe(node.inputs[0], ChannelsLast()), w,
                        Describe(node.outputs[0], ChannelsLast()), {1, 1}, {0, 0}, {0, 0}, {0, 0}),
          Attributes(), Engine()};
}

bool ChooseInputGrad(const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
  return Try([&] {
    const auto conv = InputGradDesc(node, nullptr, setting.threads);
    const std::optional<Layout> weight = LayoutOf(conv.weights_desc());
    if (!weight || !IsFast(conv)) return false;
    option->input_layouts = {ChannelsLast(), Transposed(*weight)};
    option->output_layouts = {ChannelsLast()};
    option->workspace_bytes = static_cast<int64_t>(conv.scratchpad_desc().get_size());
    return true;
  });
}

PreparedKernel PrepareInputGrad(const KernelRequest& request) {
  const Layout weight = Transposed(request.operands[1].layout);
  const auto conv = InputGradDesc(request.node, &weight, request.threads);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, 0, conv.src_desc()},
                                     {DNNL_ARG_WEIGHTS, 1, conv.weights_desc()},
                                     {DNNL_ARG_DST, 2, conv.dst_desc()}};
  AddScratch(conv.scratchpad_desc(), 3, arguments);
  return PrepareRun(Forward(conv), arguments);
}

}  // namespace

KernelDef pointwise_input_grad() {
  return {.name = "onednn.pointwise_input_grad",
          .supports = Supports,
          .prepare = PrepareInputGrad,
          .choose = ChooseInputGrad,
          .seconds = Seconds};
}

}  // namespace cgrun::onednn
