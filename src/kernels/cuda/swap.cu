// Swaps to the host's memory and back, as src/kernels/reference/swap.cc does to a file. If a node
// runs by itself, an operand that is meant for the swap space can lie in memory. It is then copied
// in the stream.
#include "src/device/swap_space.h"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"

namespace cgrun::cuda {

static constexpr double kSecondsOfStart = 2e-6;  // an estimate: events, or the nodes of a graph

struct SwapParameters {
  int64_t bytes;
};

static int64_t BytesOf(const Instruction& i) {
  return static_cast<const SwapParameters*>(i.parameters)->bytes;
}

static bool InSpace(const Instruction& i, int operand) {
  return i.operands[operand].arena == ArenaKind::kFile;
}

static void CopyTensor(const RunContext& context, const Instruction& i, int from, int to) noexcept {
  const auto* source = Data<const std::byte>(context, i, from);
  auto* target = Data<std::byte>(context, i, to);
  if (source == target) return;
  cudaMemcpyAsync(target, source, static_cast<size_t>(BytesOf(i)), cudaMemcpyDeviceToDevice,
                  StreamOf(context));
}

// x → f
static void RunSwapOut(const RunContext& context, const Instruction& i) noexcept {
  if (!InSpace(i, 1)) return CopyTensor(context, i, 0, 1);
  context.swap_space->StartWrite(i.operands[1].offset, Data<std::byte>(context, i, 0), BytesOf(i));
}

// f, x → written
static void RunSwapOutWait(const RunContext& context, const Instruction& i) noexcept {
  if (InSpace(i, 0)) context.swap_space->Wait(i.operands[0].offset);
  cudaMemsetAsync(Data<uint8_t>(context, i, 2), 1, 1, StreamOf(context));
}

// f, written → y
static void RunSwapIn(const RunContext& context, const Instruction& i) noexcept {
  if (!InSpace(i, 0)) return CopyTensor(context, i, 0, 2);
  context.swap_space->StartRead(i.operands[0].offset, Data<std::byte>(context, i, 2), BytesOf(i));
}

// y, f → z
static void RunSwapInWait(const RunContext& context, const Instruction& i) noexcept {
  if (InSpace(i, 1)) context.swap_space->Wait(i.operands[1].offset);
  CopyTensor(context, i, 0, 2);
}

template <KernelFunction kRun>
static PreparedKernel PrepareSwap(const KernelRequest& request) {
  return PreparedKernel::Of(kRun, SwapParameters{ByteSize(request.node.inputs[0])});
}

static double SecondsOfSwap(const NodeSignature&, int) { return kSecondsOfStart; }

template <KernelFunction kRun>
static KernelDef DefineSwap(std::string_view name) {
  return {.name = name, .prepare = PrepareSwap<kRun>, .seconds = SecondsOfSwap};
}

KernelDef swap_out() { return DefineSwap<RunSwapOut>("cuda.swap_out"); }
KernelDef swap_out_wait() { return DefineSwap<RunSwapOutWait>("cuda.swap_out_wait"); }
KernelDef swap_in() { return DefineSwap<RunSwapIn>("cuda.swap_in"); }
KernelDef swap_in_wait() { return DefineSwap<RunSwapInWait>("cuda.swap_in_wait"); }

}  // namespace cgrun::cuda
