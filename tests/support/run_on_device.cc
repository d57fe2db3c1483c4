// One arena, whose bytes are made and looked at on the host.
#include "tests/support/run_on_device.h"

#include <algorithm>

namespace cgrun {
namespace {

constexpr std::byte kNan{0xFF};
constexpr int64_t kAlignment = 64, kGuardBytes = 128;

struct Place {
  int64_t offset = 0;
  int64_t bytes = 0;
  bool written = false;  // by the kernel
};

// Places the operands one after another, each at an odd multiple of kAlignment.
class Arena {
 public:
  void Add(int64_t bytes, bool written) {
    places_.push_back({end_, bytes, written});
    const int64_t unit = 2 * kAlignment, next = end_ + bytes + kGuardBytes;
    end_ = (next + unit - 1) / unit * unit + kAlignment;
  }
  void Share(const InPlacePair& pair, size_t inputs) {
    Place& input = places_[static_cast<size_t>(pair.input)];
    input.written = true;
    places_[inputs + static_cast<size_t>(pair.output)] = input;
  }

  int64_t bytes() const { return end_; }
  const std::vector<Place>& places() const { return places_; }
  std::span<std::byte> In(std::vector<std::byte>& memory, size_t operand) const {
    const Place& place = places_[operand];
    return std::span(memory).subspan(static_cast<size_t>(place.offset),
                                     static_cast<size_t>(place.bytes));
  }

 private:
  std::vector<Place> places_;
  int64_t end_ = kAlignment;
};

// The first byte that differs and is none that the kernel may write.
std::string FaultOf(const Arena& arena, const std::vector<std::byte>& before,
                    const std::vector<std::byte>& after) {
  std::vector<bool> free(before.size());
  for (const Place& place : arena.places()) {
    if (place.written) std::fill_n(free.begin() + place.offset, place.bytes, true);
  }
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i] || free[i]) continue;
    size_t operand = 0;
    while (operand + 1 < arena.places().size() &&
           arena.places()[operand + 1].offset <= static_cast<int64_t>(i)) {
      ++operand;
    }
    return "it wrote into or behind operand " + std::to_string(operand);
  }
  return "";
}

}  // namespace

DeviceRun RunOnDevice(const KernelLibrary& library, Device& device, const NodeSignature& node,
                      const KernelOption& option, std::span<const HostTensor> inputs,
                      std::optional<InPlacePair> shared) {
  device.UseThreads(1);
  Arena arena;
  for (const TensorType& type : node.inputs) arena.Add(ByteSize(type), false);
  for (const TensorType& type : node.outputs) arena.Add(ByteSize(type), true);
  if (option.workspace_bytes > 0) arena.Add(option.workspace_bytes, true);
  if (shared) arena.Share(*shared, inputs.size());

  std::vector<std::byte> before(static_cast<size_t>(arena.bytes()), kNan);
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::ranges::copy(inputs[i].bytes(), arena.In(before, i).begin());
  }
  std::vector<Operand> operands;
  for (const Place& place : arena.places()) {
    operands.push_back({place.offset, ArenaKind::kDevice, Access::kRead});
  }
  KernelRequest request{node, {}, 1};
  request.operands.resize(node.inputs.size() + node.outputs.size());
  const PreparedKernel kernel = library.Prepare(option.kernel, request);

  SingleProcess communicator;
  RunContext context;
  context.communicator = &communicator;
  context.stream = device.CreateStream();
  std::byte* const memory = device.Allocate(ArenaKind::kDevice, arena.bytes());
  context.arenas[static_cast<int>(ArenaKind::kDevice)] = memory;
  device.Copy(CopyKind::kHostToDevice, memory, before.data(), arena.bytes(), context.stream);
  kernel.run(context, {kernel.run, operands.data(), kernel.parameters.get(),
                       static_cast<int32_t>(operands.size()), 0});
  std::vector<std::byte> after(before.size());
  device.Copy(CopyKind::kDeviceToHost, after.data(), memory, arena.bytes(), context.stream);
  device.Synchronize(context.stream);
  device.Free(ArenaKind::kDevice, memory);

  DeviceRun run;
  run.fault = FaultOf(arena, before, after);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    HostTensor& output = run.outputs.emplace_back(node.outputs[i].dtype, node.outputs[i].shape);
    std::ranges::copy(arena.In(after, inputs.size() + i), output.bytes().begin());
  }
  return run;
}

}  // namespace cgrun
