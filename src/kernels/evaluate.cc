// Runs one node on host memory, and describes a plain kernel as an option.
#include "src/kernels/evaluate.h"

#include <algorithm>

#include "src/ir/op_def.h"
#include "src/kernels/host_run.h"

namespace cgrun {
namespace {

constexpr double kBytesPerSecond = 4e9;

double EstimateSeconds(const KernelDef& kernel, const NodeSignature& node, int threads,
                       int64_t workspace) {
  if (kernel.seconds != nullptr) return kernel.seconds(node, threads);
  const int64_t bytes = OperandBytes(node) + 2 * workspace;  // the workspace is written and read
  return static_cast<double>(CostOf(node).flops) / (kernel.flops_per_second * threads) +
         static_cast<double>(bytes) / kBytesPerSecond;
}

// Returns the option on plain tensors, or as the kernel chooses.
std::optional<KernelOption> OwnOption(const KernelDef& kernel, const NodeSignature& node,
                                      const RunSetting& setting) {
  KernelOption option;
  option.kernel = kernel.name;
  option.input_layouts.resize(node.inputs.size());
  option.output_layouts.resize(node.outputs.size());
  if (kernel.in_place) option.in_place = InPlacePairsOf(node.op, node.body);
  // An operator's optional outputs are not there in every node.
  std::erase_if(option.in_place, [&](const InPlacePair& pair) {
    return static_cast<size_t>(pair.input) >= node.inputs.size() ||
           static_cast<size_t>(pair.output) >= node.outputs.size();
  });
  if (kernel.layouts != nullptr) kernel.layouts(node, &option);
  option.same_bits_single_threaded =
      kernel.by_team == nullptr || !kernel.by_team(node, setting.threads);
  // This is as in `prepare`: a thread team counts only where it is larger.
  const bool for_team = setting.thread_team > setting.threads && kernel.by_team != nullptr &&
                        kernel.by_team(node, setting.thread_team);
  if (for_team) {
    if (setting.threads > 1 || kernel.single_threaded_workspace == nullptr) return std::nullopt;
    option.same_bits_single_threaded = false;
    option.workspace_bytes = kernel.single_threaded_workspace(node, setting.thread_team);
  } else if (kernel.workspace_bytes != nullptr) {
    option.workspace_bytes = kernel.workspace_bytes(node, setting.threads);
  }
  if (kernel.choose != nullptr && !kernel.choose(node, setting, &option)) return std::nullopt;
  option.seconds = EstimateSeconds(kernel, node, setting.threads, option.workspace_bytes);
  return option;
}

void SetSubBuffers(const NodeSignature& node, KernelOption* option) {
  std::vector<Layout> layouts = option->input_layouts;
  layouts.insert(layouts.end(), option->output_layouts.begin(), option->output_layouts.end());
  option->sub_buffers = GetOpDef(node.op).sub_buffers(node, layouts);
}

bool AllOfOneShape(const NodeSignature& node) {
  const auto same = [&](const TensorType& type) { return type.shape == node.outputs[0].shape; };
  return std::all_of(node.inputs.begin(), node.inputs.end(), same);
}

// All tensors have one shape, but for inputs of one element and those that the kernel reads apart.
bool InStep(const KernelDef& kernel, const NodeSignature& node) {
  const Shape& shape = node.outputs[0].shape;
  const auto same = [&](const TensorType& type) { return type.shape == shape; };
  const auto fits = [&](const TensorType& type) {
    return same(type) || type.shape.Elements() == 1 || kernel.reads_others;
  };
  return std::all_of(node.outputs.begin(), node.outputs.end(), same) &&
         std::all_of(node.inputs.begin(), node.inputs.end(), fits);
}

// `option` with every tensor of the output's shape in `layout`.
KernelOption InLayout(KernelOption option, const NodeSignature& node, const Layout& layout) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i].shape == node.outputs[0].shape) option.input_layouts[i] = layout;
  }
  for (Layout& output : option.output_layouts) output = layout;
  return option;
}

}  // namespace

bool AllPlain(const KernelOption& option) {
  const auto plain = [](const Layout& layout) { return layout.IsPlain(); };
  return std::all_of(option.input_layouts.begin(), option.input_layouts.end(), plain) &&
         std::all_of(option.output_layouts.begin(), option.output_layouts.end(), plain);
}

void AddOptions(const KernelDef& kernel, const NodeSignature& node, const RunSetting& setting,
                std::vector<KernelOption>* options) {
  if (kernel.hides_nan && setting.learns) return;
  if (kernel.supports != nullptr && !kernel.supports(node)) return;
  std::optional<KernelOption> own = OwnOption(kernel, node, setting);
  if (!own) return;
  if (kernel.in_place && GetOpDef(node.op).sub_buffers != nullptr) SetSubBuffers(node, &*own);
  options->push_back(*own);
  if (!kernel.elementwise || !InStep(kernel, node)) return;
  const Shape& shape = node.outputs[0].shape;
  std::vector<Layout> seen = {Layout()};
  for (size_t i = 0; i < setting.layouts.size(); ++i) {
    const Layout& layout = setting.layouts[i];
    if (node.inputs[i].shape != shape) continue;
    const bool pads = PaddedElements(shape, layout) != shape.Elements();
    if (pads && !(kernel.keeps_zero && AllOfOneShape(node))) continue;
    if (std::find(seen.begin(), seen.end(), layout) != seen.end()) continue;
    seen.push_back(layout);
    options->push_back(InLayout(*own, node, layout));
  }
}

PreparedKernel PrepareKernel(const KernelDef& kernel, const KernelRequest& request) {
  const size_t output = request.node.inputs.size();
  if (!kernel.elementwise || request.operands[output].layout.IsPlain()) {
    return kernel.prepare(request);
  }
  NodeSignature flat = request.node;
  const Shape shape = request.node.outputs[0].shape;
  const Shape padded{PaddedElements(shape, request.operands[output].layout)};
  for (TensorType& type : flat.inputs) {
    if (type.shape == shape) {
      type.shape = padded;
    } else if (!kernel.reads_others) {
      type.shape = Shape{1};
    }
  }
  for (TensorType& type : flat.outputs) type.shape = padded;
  KernelRequest as_flat = request.For(flat);
  as_flat.operands.assign(request.operands.size(), {});
  return kernel.prepare(as_flat);
}

std::optional<std::vector<HostTensor>> EvaluateOnHost(const KernelLibrary& library,
                                                      const NodeSignature& node,
                                                      std::span<const HostTensor> inputs) {
  const std::vector<KernelOption> options = library.Options(node, {});
  if (options.empty() || !AllPlain(options[0])) return std::nullopt;
  HostRun run(library, node, options[0], 1);
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::ranges::copy(inputs[i].bytes(), run.operand(i).begin());
  }
  run.Run();
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    HostTensor output(node.outputs[i].dtype, node.outputs[i].shape);
    std::ranges::copy(run.operand(inputs.size() + i), output.bytes().begin());
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace cgrun
