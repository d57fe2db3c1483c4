// Swaps to a file and back. If a node runs by itself, an operand that is meant for the swap space
// can lie in memory. It is then copied at once.
#include <cstring>

#include "src/device/swap_space.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

constexpr double kSecondsOfStart = 2e-6;  // an estimate: a lock, and waking the file's thread

struct SwapParameters {
  int64_t bytes;
};

int64_t BytesOf(const Instruction& i) {
  return static_cast<const SwapParameters*>(i.parameters)->bytes;
}

bool InFile(const Instruction& i, int operand) {
  return i.operands[operand].arena == ArenaKind::kFile;
}

void Copy(const RunContext& context, const Instruction& i, int from, int to) noexcept {
  const auto* source = Data<const std::byte>(context, i, from);
  auto* target = Data<std::byte>(context, i, to);
  if (source != target) std::memcpy(target, source, static_cast<size_t>(BytesOf(i)));
}

// x → f
void Out(const RunContext& context, const Instruction& i) noexcept {
  if (!InFile(i, 1)) return Copy(context, i, 0, 1);
  context.swap_space->StartWrite(i.operands[1].offset, Data<std::byte>(context, i, 0), BytesOf(i));
}

// f, x → written
void OutWait(const RunContext& context, const Instruction& i) noexcept {
  if (InFile(i, 0)) context.swap_space->Wait(i.operands[0].offset);
  *Data<uint8_t>(context, i, 2) = 1;
}

// f, written → y
void In(const RunContext& context, const Instruction& i) noexcept {
  if (!InFile(i, 0)) return Copy(context, i, 0, 2);
  context.swap_space->StartRead(i.operands[0].offset, Data<std::byte>(context, i, 2), BytesOf(i));
}

// y, f → z
void InWait(const RunContext& context, const Instruction& i) noexcept {
  if (InFile(i, 1)) context.swap_space->Wait(i.operands[1].offset);
  Copy(context, i, 0, 2);
}

template <KernelFunction kRun>
PreparedKernel PrepareSwap(const KernelRequest& request) {
  const int64_t bytes = ByteSize(request.node.inputs[0], request.operands[0].layout);
  return PreparedKernel::Of(kRun, SwapParameters{bytes});
}

// The first input in whatever layout it has, and all that is the same tensor.
bool ChooseSwap(const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
  if (setting.layouts.empty()) return true;
  const auto follow = [&](const std::vector<TensorType>& types, std::vector<Layout>& layouts) {
    for (size_t i = 0; i < types.size(); ++i) {
      if (types[i] == node.inputs[0]) layouts[i] = setting.layouts[0];
    }
  };
  follow(node.inputs, option->input_layouts);
  follow(node.outputs, option->output_layouts);
  return true;
}

double Seconds(const NodeSignature&, int) { return kSecondsOfStart; }

template <KernelFunction kRun>
KernelDef Define(std::string_view name) {
  return {.name = name, .prepare = PrepareSwap<kRun>, .choose = ChooseSwap, .seconds = Seconds};
}

}  // namespace

KernelDef swap_out() { return Define<Out>("reference.swap_out"); }
KernelDef swap_out_wait() { return Define<OutWait>("reference.swap_out_wait"); }
KernelDef swap_in() { return Define<In>("reference.swap_in"); }
KernelDef swap_in_wait() { return Define<InWait>("reference.swap_in_wait"); }

}  // namespace cgrun::reference
