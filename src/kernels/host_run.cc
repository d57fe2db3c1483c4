// The operands lie one after another in one arena.
#include "src/kernels/host_run.h"

namespace cgrun {

HostRun::HostRun(const KernelLibrary& library, const NodeSignature& node,
                 const KernelOption& option, int threads) {
  KernelRequest request{node, {}, threads};
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    Add(ByteSize(node.inputs[i], option.input_layouts[i]), Access::kRead);
    request.operands.push_back({option.input_layouts[i], {}});
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Add(ByteSize(node.outputs[i], option.output_layouts[i]), Access::kWrite);
    request.operands.push_back({option.output_layouts[i], {}});
  }
  if (option.workspace_bytes > 0) Add(option.workspace_bytes, Access::kScratch);
  memory_.resize(static_cast<size_t>(end_ / kAlignment + 1));
  kernel_ = library.Prepare(option.kernel, request);
  context_.communicator = &communicator_;
  context_.arenas[static_cast<int>(ArenaKind::kDevice)] = memory_[0].bytes;
}

std::span<std::byte> HostRun::operand(size_t i) {
  return {memory_[0].bytes + operands_[i].offset, static_cast<size_t>(bytes_[i])};
}

void HostRun::Run() {
  const Instruction instruction{kernel_.run, operands_.data(), kernel_.parameters.get(),
                                static_cast<int32_t>(operands_.size()), 0};
  kernel_.run(context_, instruction);
}

void HostRun::Add(int64_t bytes, Access access) {
  operands_.push_back({end_, ArenaKind::kDevice, access});
  bytes_.push_back(bytes);
  end_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace cgrun
