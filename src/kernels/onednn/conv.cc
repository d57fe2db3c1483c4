// Runs convolutions by oneDNN, which chooses the layouts. The plan takes them over.
#include "src/kernels/onednn/conv.h"

#include <algorithm>
#include <span>

#include "src/base/check.h"
#include "src/kernels/fused_conv.h"
#include "src/kernels/onednn/folded_norm.h"
#include "src/kernels/onednn/grouped_weights.h"
#include "src/kernels/onednn/post_operators.h"
#include "src/kernels/onednn/primitive.h"
#include "src/kernels/onednn/winograd.h"
#include "src/ops/conv.h"

namespace cgrun::onednn {
namespace {

using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;
using Desc = dnnl::memory::desc;

// The speed of one thread counts what fills up blocks of channels. It is 92 % of the peak of 117e9
// of the machine on which it was measured. See cpu/conv_seconds.h.
constexpr double kFlopsPerSecond = 108e9;
constexpr double kFirstConvFlopsPerSecond = 92e9;  // of few channels, which are not in blocks
// A kernel computes some pixels of a row side by side. If a row has only one pixel, the kernel
// reaches this share of its speed.
constexpr double kSpeedOfColumns = 0.6;
constexpr double kDepthwiseFlopsPerSecond = 20e9;  // bound by memory, not by arithmetic

// These are the speeds of bf16 divided by that of f32. Products of pairs are twice as many at a
// time, and tiles give more. A processor with neither spends its time on taking numbers apart and
// together.
constexpr double kSpeedOfPairs = 2;
constexpr double kSpeedOfNeither = 0.2;
constexpr double kSpeedOfTiles = 4;
constexpr double kInputGradSpeedOfTiles = 2.5;
constexpr double kWeightGradSpeedOfTiles = 3.3;  // with whole tiles

int64_t ChannelBlock() {
  return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core ? 16 : 8;
}

// Returns how much more than `channels` there are when their blocks are whole.
double Filling(int64_t channels) {
  const int64_t block = ChannelBlock();
  return static_cast<double>((channels + block - 1) / block * block) /
         static_cast<double>(channels);
}

// Returns how much longer a weight's gradient takes on tiles than with whole ones. A tile holds 32
// of a row's positions. If the convolution leaves some out, it reads them one by one.
double WeightGradTiles(const NodeSignature& node) {
  constexpr int64_t kPositions = 32;
  constexpr double kStrided = 1.7;
  const int64_t row = node.inputs[1].shape[3].size;
  const auto held = static_cast<double>((row + kPositions - 1) / kPositions * kPositions);
  const IntList& stride = node.attributes.As<ConvGradAttributes>().stride;
  const bool moves_by_one = stride == IntList{1, 1};
  return held / static_cast<double>(row) * (moves_by_one ? 1 : kStrided);
}

// The operations in f32 that take as long.
double FlopsInF32(const NodeSignature& node) {
  const auto flops = static_cast<double>(CostOf(node).flops);
  if (node.inputs[0].dtype != DType::kBF16) return flops;
  if (!MultipliesPairs()) return flops / kSpeedOfNeither;
  if (!MultipliesTiles()) return flops / kSpeedOfPairs;
  if (node.op == OpId::conv_input_grad) return flops / kInputGradSpeedOfTiles;
  if (node.op == OpId::conv_weight_grad) {
    return flops * WeightGradTiles(node) / kWeightGradSpeedOfTiles;
  }
  return flops / kSpeedOfTiles;
}

// Counts the same for a depthwise convolution, which is bound by memory: no tiles make it faster.
double DepthwiseFlopsInF32(const NodeSignature& node) {
  const auto flops = static_cast<double>(CostOf(node).flops);
  if (node.inputs[0].dtype != DType::kBF16) return flops;
  return flops / (MultipliesPairs() ? kSpeedOfPairs : kSpeedOfNeither);
}

// Estimates a convolution of `groups` with its channels in blocks. If it is depthwise, these are
// blocks of groups.
double BlockedSeconds(const NodeSignature& node, int64_t channels, int64_t filters,
                      int64_t groups) {
  if (groups > 1 && channels == groups && filters == groups) {
    return DepthwiseFlopsInF32(node) * Filling(groups) / kDepthwiseFlopsPerSecond;
  }
  return FlopsInF32(node) * Filling(channels / groups) * Filling(filters / groups) /
         kFlopsPerSecond;
}

// Returns whether the images that a convolution makes are one pixel wide.
bool MakesColumns(const NodeSignature& node) {
  const Shape& y = node.outputs[0].shape;
  return y[3].size == 1 && y[2].size > 1;
}

// Estimates the same for a convolution that takes few channels as they are, not in blocks.
double FirstSeconds(const NodeSignature& node, int64_t channels, int64_t filters, int64_t groups) {
  if (groups > 1 || channels >= ChannelBlock()) {
    return BlockedSeconds(node, channels, filters, groups);
  }
  return FlopsInF32(node) * Filling(filters) / kFirstConvFlopsPerSecond;
}

// Says how a convolution or a gradient of one is computed.
enum class Method { kDirect, kWinograd };

template <Method kMethod>
constexpr dnnl::algorithm kAlgorithm =
    kMethod == Method::kDirect ? dnnl::algorithm::convolution_direct
                               : dnnl::algorithm::convolution_winograd;

// The window as oneDNN wants it.
struct Sizes {
  dnnl::memory::dims strides, dilates, before, after;
};

Sizes SizesOf(const Shape& x, const WindowAttributes& attributes) {
  const Window w = WindowOf(x, attributes);
  return {{w.y.stride, w.x.stride},
          {w.y.dilation - 1, w.x.dilation - 1},
          {w.y.before, w.x.before},
          {w.y.after, w.x.after}};
}

Desc Tensor(const TensorType& type, const Layout* layout) {
  return layout == nullptr ? DescribeAny(type) : Describe(type, *layout);
}

// The layouts of a node's operands, inputs then outputs; none: oneDNN's choice.
using Layouts = const std::vector<OperandLayout>*;
const Layout* At(Layouts layouts, size_t i) {
  return layouts == nullptr ? nullptr : &(*layouts)[i].layout;
}

const ConvAttributes& ConvOf(const NodeSignature& node) {
  return (node.op == OpId::fused ? node.body[0].attributes : node.attributes).As<ConvAttributes>();
}

// Counts the inputs of the convolution itself. Operators behind it have operands of their own.
size_t ConvInputs(const NodeSignature& node) {
  return node.op == OpId::fused ? node.body[0].operands.size() : node.inputs.size();
}

std::vector<PostOperator> BehindConv(const NodeSignature& node) {
  auto behind = PostOperatorsOf(node);
  CGRUN_CHECK(behind) << "no post-operators for what is behind a convolution";
  return *std::move(behind);
}

dnnl::primitive_attr AttributesOf(const NodeSignature& node) {
  dnnl::primitive_attr attributes = Attributes();
  if (node.op == OpId::fused) {
    attributes.set_post_ops(Described(BehindConv(node), node.inputs[1].shape[0].size));
  }
  return attributes;
}

template <Method kMethod>
Forward::primitive_desc ForwardDesc(const NodeSignature& node, Layouts layouts) {
  const ConvAttributes& attributes = ConvOf(node);
  const Sizes sizes = SizesOf(node.inputs[0].shape, attributes.window());
  const bool bias = HasNorm(node) ? FoldsIntoWeights(node) : ConvInputs(node) == 3;
  const Desc x = Tensor(node.inputs[0], At(layouts, 0));
  const Desc weight = DescribeWeights(node.inputs[1], attributes.groups, At(layouts, 1));
  const Desc y = Tensor(node.outputs[0], At(layouts, node.inputs.size()));
  const DType of_bias = HasNorm(node) ? DType::kF32 : node.inputs[1].dtype;
  const TensorType of_filters{of_bias, {node.outputs[0].shape[1]}};
  const auto kind = dnnl::prop_kind::forward_training;
  const Forward::desc desc =
      bias ? Forward::desc(kind, kAlgorithm<kMethod>, x, weight, Describe(of_filters, Layout()), y,
                           sizes.strides, sizes.dilates, sizes.before, sizes.after)
           : Forward::desc(kind, kAlgorithm<kMethod>, x, weight, y, sizes.strides, sizes.dilates,
                           sizes.before, sizes.after);
  return {desc, AttributesOf(node), Engine()};
}

// Describes the forward convolution to the gradients, which need it. Any layouts will do.
template <Method kMethod>
Forward::primitive_desc Hint(const ConvGradAttributes& a, DType dtype, const Shape& weight,
                             const Shape& y) {
  const Sizes sizes = SizesOf(a.input, a.window());
  return {Forward::desc(
              dnnl::prop_kind::forward_training, kAlgorithm<kMethod>, DescribeAny({dtype, a.input}),
              DescribeWeights({dtype, weight}, a.groups, nullptr), DescribeAny({dtype, y}),
              sizes.strides, sizes.dilates, sizes.before, sizes.after),
          Attributes(), Engine()};
}

template <Method kMethod>
BackwardData::primitive_desc InputGradDesc(const NodeSignature& node, Layouts layouts) {
  const auto& a = node.attributes.As<ConvGradAttributes>();
  const Sizes sizes = SizesOf(a.input, a.window());
  const BackwardData::desc desc(kAlgorithm<kMethod>, Tensor(node.outputs[0], At(layouts, 2)),
                                DescribeWeights(node.inputs[1], a.groups, At(layouts, 1)),
                                Tensor(node.inputs[0], At(layouts, 0)), sizes.strides,
                                sizes.dilates, sizes.before, sizes.after);
  return {desc, Attributes(), Engine(),
          Hint<kMethod>(a, node.inputs[0].dtype, node.inputs[1].shape, node.inputs[0].shape)};
}

template <Method kMethod>
BackwardWeights::primitive_desc WeightGradDesc(const NodeSignature& node, Layouts layouts) {
  const auto& a = node.attributes.As<ConvGradAttributes>();
  const Sizes sizes = SizesOf(a.input, a.window());
  const BackwardWeights::desc desc(kAlgorithm<kMethod>, Tensor(node.inputs[0], At(layouts, 0)),
                                   DescribeWeights(node.outputs[0], a.groups, At(layouts, 2)),
                                   Tensor(node.inputs[1], At(layouts, 1)), sizes.strides,
                                   sizes.dilates, sizes.before, sizes.after);
  return {desc, Attributes(), Engine(),
          Hint<kMethod>(a, node.inputs[0].dtype, node.outputs[0].shape, node.inputs[1].shape)};
}

// Checks the types of the first inputs, which a convolution or its gradient reads.
bool SupportsTypes(const NodeSignature& node, size_t inputs) {
  const DType dtype = node.inputs[0].dtype;
  const auto fits = [dtype](const TensorType& type) {
    return type.dtype == dtype && type.shape.Elements() > 0;
  };
  return IsOnednnFloat(dtype) && std::ranges::all_of(std::span(node.inputs).first(inputs), fits) &&
         std::ranges::all_of(node.outputs, fits);
}
bool Supports(const NodeSignature& node) { return SupportsTypes(node, node.inputs.size()); }

int64_t Scratch(const Desc& scratch) { return static_cast<int64_t>(scratch.get_size()); }

// Notes the layout that oneDNN chose. If it is none of ours, returns false.
bool Note(const std::optional<Layout>& chosen, Layout* layout) {
  if (chosen) *layout = *chosen;
  return chosen.has_value();
}
bool Choose(const Desc& images, Layout* layout) { return Note(LayoutOf(images), layout); }
bool ChooseWeights(const Desc& weights, Layout* layout) {
  return Note(WeightLayoutOf(weights), layout);
}

template <auto MakeDesc>
auto WithThreads(const NodeSignature& node, Layouts layouts, int threads) {
  SetThreads(threads);
  return MakeDesc(node, layouts);
}

}  // namespace

namespace {

// Chooses the layouts that oneDNN prefers for the convolution by itself. If a tensor is added to
// its result, the tensor is to lie like the result.
template <Method kMethod>
bool ChooseForward(const NodeSignature& node, int threads, KernelOption* option) {
  const NodeSignature alone = node.op == OpId::fused ? SignaturesInBody(node)[0] : node;
  const auto conv = WithThreads<ForwardDesc<kMethod>>(alone, nullptr, threads);
  const bool known = IsFast(conv) && Choose(conv.src_desc(), &option->input_layouts[0]) &&
                     ChooseWeights(conv.weights_desc(), &option->input_layouts[1]) &&
                     Choose(conv.dst_desc(), &option->output_layouts[0]);
  option->workspace_bytes = Scratch(conv.scratchpad_desc());
  if (!known || node.op != OpId::fused) return known;
  for (size_t i = ConvInputs(node); i < node.inputs.size(); ++i) {
    if (node.inputs[i].shape == node.outputs[0].shape) {
      option->input_layouts[i] = option->output_layouts[0];
    }
  }
  std::vector<OperandLayout> layouts;
  for (const Layout& layout : option->input_layouts) layouts.push_back({layout, {}});
  layouts.push_back({option->output_layouts[0], {}});
  const auto fused = WithThreads<ForwardDesc<kMethod>>(node, &layouts, threads);
  const Layout& weights = option->input_layouts[1];
  option->workspace_bytes = PlacesOf(node, weights).end + Scratch(fused.scratchpad_desc());
  return IsFast(fused) && (!HasNorm(node) || CanFoldInto(node, weights));
}

template <Method kMethod>
PreparedKernel PrepareForward(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto desc = WithThreads<ForwardDesc<kMethod>>(node, &request.operands, request.threads);
  const int y = static_cast<int>(node.inputs.size()), workspace = y + 1;
  const FoldedPlaces places = PlacesOf(node, request.operands[1].layout);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, 0, desc.src_desc()},
                                     {DNNL_ARG_DST, y, desc.dst_desc()}};
  if (FoldsIntoWeights(node)) {
    arguments.push_back({DNNL_ARG_WEIGHTS, workspace, desc.weights_desc(), places.factors});
    arguments.push_back({DNNL_ARG_BIAS, workspace, desc.bias_desc(), places.summands});
  } else {
    arguments.push_back({DNNL_ARG_WEIGHTS, 1, desc.weights_desc()});
    if (ConvInputs(node) == 3 && !HasNorm(node)) {
      arguments.push_back({DNNL_ARG_BIAS, 2, desc.bias_desc()});
    }
  }
  AddScratch(desc.scratchpad_desc(), workspace, arguments, places.end);
  if (node.op != OpId::fused) return PrepareRun(Forward(desc), arguments);
  const std::vector<PostOperator> behind = BehindConv(node);
  AddFoldedArguments(behind, node.inputs[1].shape[0].size, places, workspace, arguments);
  PreparedKernel conv = BehindFolding(request, PrepareRun(Forward(desc), arguments));
  return BehindCopy(AddedOperand(behind), request, std::move(conv));
}

KernelDef Conv(std::string_view name, bool (*supports)(const NodeSignature&)) {
  KernelDef def{.name = name, .supports = supports};
  def.seconds = [](const NodeSignature& node, int threads) {
    const int64_t channels = node.inputs[0].shape[1].size, filters = node.outputs[0].shape[1].size;
    const double seconds = FirstSeconds(node, channels, filters, ConvOf(node).groups) / threads;
    return seconds / (MakesColumns(node) ? kSpeedOfColumns : 1) + FoldingSeconds(node);
  };
  def.choose = [](const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
    return Try([&] { return ChooseForward<Method::kDirect>(node, setting.threads, option); });
  };
  def.prepare = PrepareForward<Method::kDirect>;
  return def;
}

template <Method kMethod>
bool ChooseInputGrad(const NodeSignature& node, int threads, KernelOption* option) {
  const auto desc = WithThreads<InputGradDesc<kMethod>>(node, nullptr, threads);
  option->workspace_bytes = Scratch(desc.scratchpad_desc());
  return IsFast(desc) && Choose(desc.diff_dst_desc(), &option->input_layouts[0]) &&
         ChooseWeights(desc.weights_desc(), &option->input_layouts[1]) &&
         Choose(desc.diff_src_desc(), &option->output_layouts[0]);
}

template <Method kMethod>
PreparedKernel PrepareInputGrad(const KernelRequest& request) {
  const auto desc =
      WithThreads<InputGradDesc<kMethod>>(request.node, &request.operands, request.threads);
  std::vector<Argument> arguments = {{DNNL_ARG_DIFF_DST, 0, desc.diff_dst_desc()},
                                     {DNNL_ARG_WEIGHTS, 1, desc.weights_desc()},
                                     {DNNL_ARG_DIFF_SRC, 2, desc.diff_src_desc()}};
  AddScratch(desc.scratchpad_desc(), 3, arguments);
  return PrepareRun(BackwardData(desc), arguments);
}

template <Method kMethod>
bool ChooseWeightGrad(const NodeSignature& node, int threads, KernelOption* option) {
  const auto desc = WithThreads<WeightGradDesc<kMethod>>(node, nullptr, threads);
  option->workspace_bytes = Scratch(desc.scratchpad_desc());
  return IsFast(desc) && Choose(desc.src_desc(), &option->input_layouts[0]) &&
         Choose(desc.diff_dst_desc(), &option->input_layouts[1]) &&
         ChooseWeights(desc.diff_weights_desc(), &option->output_layouts[0]);
}

template <Method kMethod>
PreparedKernel PrepareWeightGrad(const KernelRequest& request) {
  const auto desc =
      WithThreads<WeightGradDesc<kMethod>>(request.node, &request.operands, request.threads);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, 0, desc.src_desc()},
                                     {DNNL_ARG_DIFF_DST, 1, desc.diff_dst_desc()},
                                     {DNNL_ARG_DIFF_WEIGHTS, 2, desc.diff_weights_desc()}};
  AddScratch(desc.scratchpad_desc(), 3, arguments);
  return PrepareRun(BackwardWeights(desc), arguments);
}

// Returns the type of the weights of a convolution, alone or with operators behind it, or of a
// gradient.
const TensorType& WeightsOf(const NodeSignature& node) {
  return node.op == OpId::conv_weight_grad ? node.outputs[0] : node.inputs[1];
}

bool MayGoByWinograd(const NodeSignature& node) {
  const DType dtype = node.inputs[0].dtype;
  if (node.op == OpId::conv || node.op == OpId::fused) return IsForWinograd(dtype, ConvOf(node));
  return IsForWinograd(dtype, node.attributes.As<ConvGradAttributes>());
}

// Returns whether the operands and the workspace of a kernel by Winograd's algorithm are within the
// budget. In a model that learns, activations wait beside it. It then takes no more than its images
// do.
bool IsInBudget(const NodeSignature& node, const RunSetting& setting, const KernelOption& option) {
  const int64_t images = OperandBytes(node) - ByteSize(WeightsOf(node));
  const int64_t budget = setting.workspace_budget;
  return images + option.workspace_bytes <=
         (setting.learns ? std::min(2 * images, budget) : budget);
}

// Makes `def` run by Winograd's algorithm.
template <auto kChoose, auto kPrepare>
KernelDef ByWinograd(KernelDef def, std::string_view name) {
  def.name = name;
  def.fewer_operations = true;
  def.seconds = [](const NodeSignature& node, int threads) {
    const bool of_weights = node.op == OpId::conv_weight_grad;
    const Shape& y = (of_weights ? node.inputs[1] : node.outputs[0]).shape;
    const double direct = static_cast<double>(CostOf(node).flops) / kFlopsPerSecond;
    return WinogradSeconds(node.inputs[0].shape, y, direct, threads) + FoldingSeconds(node);
  };
  def.choose = [](const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
    if (!MayGoByWinograd(node)) return false;
    const bool chosen = Try([&] { return kChoose(node, setting.threads, option); });
    return chosen && IsInBudget(node, setting, *option);
  };
  def.prepare = kPrepare;
  return def;
}

}  // namespace

KernelDef conv() { return Conv("onednn.conv", Supports); }

KernelDef fused_conv() {
  KernelDef def = Conv("onednn.fused_conv", [](const NodeSignature& node) {
    return IsConvChain(node) && SupportsTypes(node, ConvInputs(node)) && PostOperatorsOf(node);
  });
  def.hides_nan = true;  // relu(NaN) is 0
  return def;
}

KernelDef winograd() {
  return ByWinograd<ChooseForward<Method::kWinograd>, PrepareForward<Method::kWinograd>>(
      conv(), "onednn.winograd");
}

KernelDef fused_winograd() {
  return ByWinograd<ChooseForward<Method::kWinograd>, PrepareForward<Method::kWinograd>>(
      fused_conv(), "onednn.fused_winograd");
}

KernelDef conv_input_grad() {
  KernelDef def{.name = "onednn.conv_input_grad", .supports = Supports};
  def.seconds = [](const NodeSignature& node, int threads) {
    const int64_t groups = node.attributes.As<ConvGradAttributes>().groups;
    const int64_t channels = node.outputs[0].shape[1].size, filters = node.inputs[0].shape[1].size;
    return BlockedSeconds(node, channels, filters, groups) / threads;
  };
  def.choose = [](const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
    return Try([&] { return ChooseInputGrad<Method::kDirect>(node, setting.threads, option); });
  };
  def.prepare = PrepareInputGrad<Method::kDirect>;
  return def;
}

KernelDef winograd_input_grad() {
  return ByWinograd<ChooseInputGrad<Method::kWinograd>, PrepareInputGrad<Method::kWinograd>>(
      conv_input_grad(), "onednn.winograd_input_grad");
}

KernelDef conv_weight_grad() {
  KernelDef def{.name = "onednn.conv_weight_grad", .supports = Supports};
  def.seconds = [](const NodeSignature& node, int threads) {
    const int64_t channels = node.inputs[0].shape[1].size, filters = node.inputs[1].shape[1].size;
    const int64_t groups = node.attributes.As<ConvGradAttributes>().groups;
    return FirstSeconds(node, channels, filters, groups) / threads;
  };
  def.choose = [](const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
    return Try([&] { return ChooseWeightGrad<Method::kDirect>(node, setting.threads, option); });
  };
  def.prepare = PrepareWeightGrad<Method::kDirect>;
  return def;
}

KernelDef winograd_weight_grad() {
  return ByWinograd<ChooseWeightGrad<Method::kWinograd>, PrepareWeightGrad<Method::kWinograd>>(
      conv_weight_grad(), "onednn.winograd_weight_grad");
}

}  // namespace cgrun::onednn
