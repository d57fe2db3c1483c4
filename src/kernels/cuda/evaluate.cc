// One arena on the first GPU holds the operands one after another.
#include "src/kernels/cuda/evaluate.h"

#include "src/device/cuda.h"
#include "src/kernels/evaluate.h"

namespace cgrun::cuda {
namespace {

constexpr int64_t kAlignment = 256;  // of cudaMalloc, which vector loads may rely on

struct Operands {
  std::vector<Operand> list;
  int64_t bytes = 0;

  void Add(int64_t size, Access access) {
    list.push_back({bytes, ArenaKind::kDevice, access});
    bytes += (size + kAlignment - 1) / kAlignment * kAlignment;
  }
};

Operands LayOut(const NodeSignature& node, const KernelOption& option) {
  Operands operands;
  for (const TensorType& type : node.inputs) operands.Add(ByteSize(type), Access::kRead);
  for (const TensorType& type : node.outputs) operands.Add(ByteSize(type), Access::kWrite);
  if (option.workspace_bytes > 0) operands.Add(option.workspace_bytes, Access::kScratch);
  return operands;
}

PreparedKernel PrepareOption(const KernelLibrary& library, const NodeSignature& node,
                             const KernelOption& option) {
  KernelRequest request{node, {}, 1};
  request.operands.resize(node.inputs.size() + node.outputs.size());
  return library.Prepare(option.kernel, request);
}

// Returns null if this machine has no GPU. If there is a GPU and it fails, that is an error.
std::unique_ptr<Device> OpenFirstGpu() {
  return HasCudaDevice() ? OpenCudaDevice("cuda") : nullptr;
}

std::vector<HostTensor> Run(Device& device, std::byte* arena, const PreparedKernel& kernel,
                            const Operands& operands, const NodeSignature& node,
                            std::span<const HostTensor> inputs) {
  RunContext context;
  SingleProcess communicator;
  context.communicator = &communicator;
  context.arenas[static_cast<int>(ArenaKind::kDevice)] = arena;
  for (size_t i = 0; i < inputs.size(); ++i) {
    device.Copy(CopyKind::kHostToDevice, arena + operands.list[i].offset, inputs[i].bytes().data(),
                static_cast<int64_t>(inputs[i].bytes().size()), context.stream);
  }
  kernel.run(context, {kernel.run, operands.list.data(), kernel.parameters.get(),
                       static_cast<int32_t>(operands.list.size()), 0});
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    HostTensor& output = outputs.emplace_back(node.outputs[i].dtype, node.outputs[i].shape);
    device.Copy(CopyKind::kDeviceToHost, output.bytes().data(),
                arena + operands.list[inputs.size() + i].offset,
                static_cast<int64_t>(output.bytes().size()), context.stream);
  }
  device.Synchronize(context.stream);
  return outputs;
}

}  // namespace

std::optional<std::vector<HostTensor>> EvaluateOnGpu(const KernelLibrary& library,
                                                     const NodeSignature& node,
                                                     std::span<const HostTensor> inputs) {
  const std::vector<KernelOption> options = library.Options(node, {});
  if (options.empty() || !AllPlain(options[0])) return std::nullopt;
  const std::unique_ptr<Device> device = OpenFirstGpu();
  if (device == nullptr) return std::nullopt;
  const PreparedKernel kernel = PrepareOption(library, node, options[0]);
  const Operands operands = LayOut(node, options[0]);
  std::byte* arena = device->Allocate(ArenaKind::kDevice, operands.bytes);
  return Run(*device, arena, kernel, operands, node, inputs);
}

}  // namespace cgrun::cuda
