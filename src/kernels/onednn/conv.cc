// Convolutions: oneDNN chooses the layouts, the plan takes them over.
#include "src/kernels/onednn/conv.h"

#include "src/base/check.h"
#include "src/kernels/fused_conv.h"
#include "src/kernels/onednn/conv_descs.h"
#include "src/ops/conv.h"
#include "src/ops/leaky_relu.h"

namespace cgrun::onednn {
namespace {

using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;
using Desc = dnnl::memory::desc;

// As kConvFlopsPerSecond, of few channels, which are not in blocks.
constexpr double kFirstConvFlopsPerSecond = 92e9;

// Of a convolution with its channels in blocks, or of one that takes few of them as they are.
double FirstSeconds(const NodeSignature& node, int64_t channels, int64_t filters, int64_t groups) {
  if (groups > 1 || channels >= ChannelBlock()) {
    return BlockedSeconds(node, channels / groups, filters / groups);
  }
  return static_cast<double>(CostOf(node).flops) * Filling(filters) / kFirstConvFlopsPerSecond;
}

Desc Weights(const TensorType& type, int64_t groups, const Layout* layout) {
  return groups > 1 ? GroupedWeights(type, groups) : Tensor(type, layout);
}

const ConvAttributes& ConvOf(const NodeSignature& node) {
  return (node.op == OpId::fused ? node.body[0].attributes : node.attributes).As<ConvAttributes>();
}

// What oneDNN calls an activation, with its parameter: those that give the very bits that our own
// kernels give, but for NaN.
struct Activation {
  dnnl::algorithm algorithm;
  float alpha = 0;
};
std::optional<Activation> ActivationOf(const FusedOperator& op) {
  if (op.op == OpId::relu) return Activation{dnnl::algorithm::eltwise_relu};
  if (op.op == OpId::leaky_relu) {
    const double slope = op.attributes.As<LeakyReluAttributes>().slope;
    return Activation{dnnl::algorithm::eltwise_relu, static_cast<float>(slope)};
  }
  return std::nullopt;
}

dnnl::primitive_attr AttributesOf(const NodeSignature& node) {
  dnnl::primitive_attr attributes = Attributes();
  if (node.op != OpId::fused) return attributes;
  const std::optional<Activation> activation = ActivationOf(node.body[1]);
  CGRUN_CHECK(activation) << "no post-operator for this activation";
  dnnl::post_ops post_ops;
  post_ops.append_eltwise(1, activation->algorithm, activation->alpha, 0);
  attributes.set_post_ops(post_ops);
  return attributes;
}

Forward::primitive_desc ForwardDesc(const NodeSignature& node, Layouts layouts) {
  const ConvAttributes& attributes = ConvOf(node);
  const WindowDims sizes = WindowDimsOf(node.inputs[0].shape, attributes.window());
  const bool bias = node.inputs.size() == 3;
  const Desc x = Tensor(node.inputs[0], At(layouts, 0));
  const Desc weight = Weights(node.inputs[1], attributes.groups, At(layouts, 1));
  const Desc y = Tensor(node.outputs[0], At(layouts, node.inputs.size()));
  const auto kind = dnnl::prop_kind::forward_training;
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const Forward::desc desc =
      bias ? Forward::desc(kind, algorithm, x, weight, Describe(node.inputs[2], Layout()), y,
                           sizes.strides, sizes.dilates, sizes.before, sizes.after)
           : Forward::desc(kind, algorithm, x, weight, y, sizes.strides, sizes.dilates,
                           sizes.before, sizes.after);
  return {desc, AttributesOf(node), Engine()};
}

// What the gradients need of the forward convolution: any layouts will do.
Forward::primitive_desc Hint(const ConvGradAttributes& a, DType dtype, const Shape& weight,
                             const Shape& y) {
  const WindowDims sizes = WindowDimsOf(a.input, a.window());
  return {Forward::desc(dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct,
                        DescribeAny({dtype, a.input}), Weights({dtype, weight}, a.groups, nullptr),
                        DescribeAny({dtype, y}), sizes.strides, sizes.dilates, sizes.before,
                        sizes.after),
          Attributes(), Engine()};
}

BackwardData::primitive_desc InputGradDesc(const NodeSignature& node, Layouts layouts) {
  const auto& a = node.attributes.As<ConvGradAttributes>();
  const WindowDims sizes = WindowDimsOf(a.input, a.window());
  const BackwardData::desc desc(
      dnnl::algorithm::convolution_direct, Tensor(node.outputs[0], At(layouts, 2)),
      Weights(node.inputs[1], a.groups, At(layouts, 1)), Tensor(node.inputs[0], At(layouts, 0)),
      sizes.strides, sizes.dilates, sizes.before, sizes.after);
  return {desc, Attributes(), Engine(),
          Hint(a, node.inputs[0].dtype, node.inputs[1].shape, node.inputs[0].shape)};
}

BackwardWeights::primitive_desc WeightGradDesc(const NodeSignature& node, Layouts layouts) {
  const auto& a = node.attributes.As<ConvGradAttributes>();
  const WindowDims sizes = WindowDimsOf(a.input, a.window());
  const BackwardWeights::desc desc(
      dnnl::algorithm::convolution_direct, Tensor(node.inputs[0], At(layouts, 0)),
      Weights(node.outputs[0], a.groups, At(layouts, 2)), Tensor(node.inputs[1], At(layouts, 1)),
      sizes.strides, sizes.dilates, sizes.before, sizes.after);
  return {desc, Attributes(), Engine(),
          Hint(a, node.inputs[0].dtype, node.outputs[0].shape, node.inputs[1].shape)};
}

KernelDef Conv(std::string_view name, bool (*supports)(const NodeSignature&)) {
  KernelDef def{.name = name, .supports = supports};
  def.seconds = [](const NodeSignature& node, int threads) {
    const int64_t channels = node.inputs[0].shape[1].size, filters = node.outputs[0].shape[1].size;
    return FirstSeconds(node, channels, filters, ConvOf(node).groups) / threads;
  };
  def.choose = [](const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
    return Try([&] {
      const auto desc = WithThreads<ForwardDesc>(node, nullptr, setting.threads);
      option->workspace_bytes = ScratchBytes(desc.scratchpad_desc());
      return IsFast(desc) && Choose(desc.src_desc(), &option->input_layouts[0]) &&
             Choose(desc.weights_desc(), &option->input_layouts[1]) &&
             Choose(desc.dst_desc(), &option->output_layouts[0]);
    });
  };
  def.prepare = [](const KernelRequest& request) {
    const NodeSignature& node = request.node;
    const auto desc = WithThreads<ForwardDesc>(node, &request.operands, request.threads);
    const int y = static_cast<int>(node.inputs.size());
    std::vector<Argument> arguments = {{DNNL_ARG_SRC, 0, desc.src_desc()},
                                       {DNNL_ARG_WEIGHTS, 1, desc.weights_desc()},
                                       {DNNL_ARG_DST, y, desc.dst_desc()}};
    if (y == 3) arguments.push_back({DNNL_ARG_BIAS, 2, desc.bias_desc()});
    AddScratch(desc.scratchpad_desc(), y + 1, arguments);
    return PrepareRun(Forward(desc), arguments);
  };
  return def;
}

}  // namespace

KernelDef conv() { return Conv("onednn.conv", SupportsConv); }

KernelDef fused_conv() {
  KernelDef def = Conv("onednn.fused_conv", [](const NodeSignature& node) {
    return IsFusedConv(node) && ActivationOf(node.body[1]) && SupportsConv(node);
  });
  def.hides_nan = true;  // relu(NaN) is 0
  return def;
}

KernelDef conv_input_grad() {
  KernelDef def{.name = "onednn.conv_input_grad", .supports = SupportsConv};
  def.seconds = [](const NodeSignature& node, int threads) {
    const int64_t groups = node.attributes.As<ConvGradAttributes>().groups;
    const int64_t channels = node.outputs[0].shape[1].size, filters = node.inputs[0].shape[1].size;
    return BlockedSeconds(node, channels / groups, filters / groups) / threads;
  };
  def.choose = [](const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
    return Try([&] {
      const auto desc = WithThreads<InputGradDesc>(node, nullptr, setting.threads);
      option->workspace_bytes = ScratchBytes(desc.scratchpad_desc());
      return IsFast(desc) && Choose(desc.diff_dst_desc(), &option->input_layouts[0]) &&
             Choose(desc.weights_desc(), &option->input_layouts[1]) &&
             Choose(desc.diff_src_desc(), &option->output_layouts[0]);
    });
  };
  def.prepare = [](const KernelRequest& request) {
    const auto desc = WithThreads<InputGradDesc>(request.node, &request.operands, request.threads);
    std::vector<Argument> arguments = {{DNNL_ARG_DIFF_DST, 0, desc.diff_dst_desc()},
                                       {DNNL_ARG_WEIGHTS, 1, desc.weights_desc()},
                                       {DNNL_ARG_DIFF_SRC, 2, desc.diff_src_desc()}};
    AddScratch(desc.scratchpad_desc(), 3, arguments);
    return PrepareRun(BackwardData(desc), arguments);
  };
  return def;
}

KernelDef conv_weight_grad() {
  KernelDef def{.name = "onednn.conv_weight_grad", .supports = SupportsConv};
  def.seconds = [](const NodeSignature& node, int threads) {
    const int64_t channels = node.inputs[0].shape[1].size, filters = node.inputs[1].shape[1].size;
    const int64_t groups = node.attributes.As<ConvGradAttributes>().groups;
    return FirstSeconds(node, channels, filters, groups) / threads;
  };
  def.choose = [](const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
    return Try([&] {
      const auto desc = WithThreads<WeightGradDesc>(node, nullptr, setting.threads);
      option->workspace_bytes = ScratchBytes(desc.scratchpad_desc());
      return IsFast(desc) && Choose(desc.src_desc(), &option->input_layouts[0]) &&
             Choose(desc.diff_dst_desc(), &option->input_layouts[1]) &&
             Choose(desc.diff_weights_desc(), &option->output_layouts[0]);
    });
  };
  def.prepare = [](const KernelRequest& request) {
    const auto desc = WithThreads<WeightGradDesc>(request.node, &request.operands, request.threads);
    std::vector<Argument> arguments = {{DNNL_ARG_SRC, 0, desc.src_desc()},
                                       {DNNL_ARG_DIFF_DST, 1, desc.diff_dst_desc()},
                                       {DNNL_ARG_DIFF_WEIGHTS, 2, desc.diff_weights_desc()}};
    AddScratch(desc.scratchpad_desc(), 3, arguments);
    return PrepareRun(BackwardWeights(desc), arguments);
  };
  return def;
}

}  // namespace cgrun::onednn
