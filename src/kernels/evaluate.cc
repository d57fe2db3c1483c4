// Running one node on host memory, and describing a plain kernel as an option.
#include "src/kernels/evaluate.h"

#include <algorithm>
#include <cstring>

namespace cgrun {
namespace {

constexpr double kBytesPerSecond = 4e9;
constexpr int64_t kAlignment = 64;

int64_t Align(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

double EstimateSeconds(const KernelDef& kernel, const NodeSignature& node, int threads) {
  int64_t bytes = 0;
  for (const TensorType& type : node.inputs) bytes += ByteSize(type);
  for (const TensorType& type : node.outputs) bytes += ByteSize(type);
  return static_cast<double>(CostOf(node).flops) / (kernel.flops_per_second * threads) +
         static_cast<double>(bytes) / kBytesPerSecond;
}

bool AllPlain(const KernelOption& option) {
  const auto plain = [](const Layout& layout) { return layout.IsPlain(); };
  return std::all_of(option.input_layouts.begin(), option.input_layouts.end(), plain) &&
         std::all_of(option.output_layouts.begin(), option.output_layouts.end(), plain);
}

// One arena with the operands one after another.
struct HostArena {
  std::vector<Operand> operands;
  int64_t bytes = 0;

  void Add(int64_t size, Access access) {
    operands.push_back({bytes, ArenaKind::kDevice, access});
    bytes += Align(size);
  }
};

}  // namespace

std::optional<KernelOption> MakeOption(const KernelDef& kernel, const NodeSignature& node, int threads) {
  KernelOption option;
  option.kernel = kernel.name;
  option.input_layouts.resize(node.inputs.size());
  option.output_layouts.resize(node.outputs.size());
  if (kernel.in_place) option.in_place = InPlacePairsOf(node.op);
  if (kernel.layouts != nullptr) kernel.layouts(node, &option);
  option.strided_inputs = kernel.strided_inputs;
  if (kernel.workspace_bytes != nullptr) {
    option.workspace_bytes = kernel.workspace_bytes(node, threads);
  }
  if (kernel.choose != nullptr && !kernel.choose(node, threads, &option)) return std::nullopt;
  option.seconds = EstimateSeconds(kernel, node, threads);
  return option;
}

std::optional<std::vector<HostTensor>> EvaluateOnHost(const KernelLibrary& library,
                                                      const NodeSignature& node,
                                                      std::span<const HostTensor> inputs) {
  const std::vector<KernelOption> options = library.Options(node, 1);
  if (options.empty() || !AllPlain(options[0])) return std::nullopt;
  HostArena arena;
  for (const TensorType& type : node.inputs) arena.Add(ByteSize(type), Access::kRead);
  for (const TensorType& type : node.outputs) arena.Add(ByteSize(type), Access::kWrite);
  if (options[0].workspace_bytes > 0) arena.Add(options[0].workspace_bytes, Access::kScratch);

  struct alignas(kAlignment) Line {
    std::byte bytes[kAlignment];
  };
  std::vector<Line> memory(static_cast<size_t>(arena.bytes / kAlignment + 1));
  RunContext context;
  SingleProcess communicator;
  context.communicator = &communicator;
  context.arenas[static_cast<int>(ArenaKind::kDevice)] = memory[0].bytes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::copy(inputs[i].bytes().begin(), inputs[i].bytes().end(),
              memory[0].bytes + arena.operands[i].offset);
  }
  KernelRequest request{node, {}, 1};
  request.operands.resize(node.inputs.size() + node.outputs.size());
  const PreparedKernel kernel = library.Prepare(options[0].kernel, request);
  const Instruction instruction{kernel.run, arena.operands.data(), kernel.parameters.get(),
                                static_cast<int32_t>(arena.operands.size()), 0};
  kernel.run(context, instruction);

  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    HostTensor output(node.outputs[i].dtype, node.outputs[i].shape);
    const std::byte* from = memory[0].bytes + arena.operands[inputs.size() + i].offset;
    std::copy(from, from + output.bytes().size(), output.bytes().data());
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace cgrun
