// Lays operands out, runs a kernel and reads its results back.
#include "tests/support/run_option.h"

#include <cmath>
#include <cstring>

#include "src/base/allocation_counter.h"

namespace cgrun {
namespace {

constexpr std::byte kGarbage{0xA5};
constexpr int64_t kGuardBytes = 128;  // around each operand
constexpr int64_t kAlignment = 64;

// Calls `visit` with every index of a shape, row-major.
template <class Visit>
void ForEachIndex(const Shape& shape, Visit visit) {
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()), 0);
  for (int64_t n = 0; n < shape.Elements(); ++n) {
    visit(n, index);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (++index[static_cast<size_t>(axis)] < shape[axis].size) break;
      index[static_cast<size_t>(axis)] = 0;
    }
  }
}

// One operand's memory between guards.
class Bytes {
 public:
  Bytes(int64_t size, int64_t shift)
      : size_(size),
        memory_(static_cast<size_t>(size + 2 * kGuardBytes + kAlignment + shift), kGarbage) {
    const auto address = reinterpret_cast<uintptr_t>(memory_.data()) + kGuardBytes;
    const uintptr_t aligned = (address + kAlignment - 1) / kAlignment * kAlignment;
    begin_ = reinterpret_cast<std::byte*>(aligned) + shift;
  }

  std::byte* begin() const { return begin_; }
  int64_t size() const { return size_; }
  bool GuardsAreWhole() const {
    for (const std::byte& b : memory_) {
      const bool inside = &b >= begin_ && &b < begin_ + size_;
      if (!inside && b != kGarbage) return false;
    }
    return true;
  }

 private:
  int64_t size_;
  std::vector<std::byte> memory_;
  std::byte* begin_ = nullptr;
};

void LayOut(const HostTensor& tensor, const Layout& layout, Bytes& to) {
  const auto size = static_cast<size_t>(SizeOf(tensor.dtype()));
  std::memset(to.begin(), 0, static_cast<size_t>(to.size()));
  ForEachIndex(tensor.shape(), [&](int64_t n, const std::vector<int64_t>& index) {
    const auto at = static_cast<size_t>(ElementOffset(tensor.shape(), layout, index));
    std::memcpy(to.begin() + at * size, tensor.bytes().data() + static_cast<size_t>(n) * size,
                size);
  });
}

// Takes what is an element out of `from`, and leaves zeros there.
HostTensor ReadBack(const TensorType& type, const Layout& layout, Bytes& from) {
  HostTensor tensor(type.dtype, type.shape);
  const auto size = static_cast<size_t>(SizeOf(type.dtype));
  ForEachIndex(type.shape, [&](int64_t n, const std::vector<int64_t>& index) {
    const auto at = static_cast<size_t>(ElementOffset(type.shape, layout, index));
    std::memcpy(tensor.bytes().data() + static_cast<size_t>(n) * size, from.begin() + at * size,
                size);
    std::memset(from.begin() + at * size, 0, size);
  });
  return tensor;
}

bool IsZero(const Bytes& bytes) {
  for (int64_t i = 0; i < bytes.size(); ++i) {
    if (bytes.begin()[i] != std::byte{0}) return false;
  }
  return true;
}

bool IsFinite(const HostTensor& tensor) {
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    if (!std::isfinite(tensor.At(i))) return false;
  }
  return true;
}

}  // namespace

OptionRun RunOption(const KernelLibrary& library, const NodeSignature& node,
                    const KernelOption& option, std::span<const HostTensor> inputs, int threads,
                    const OperandPlaces& places, int thread_team) {
  std::vector<Bytes> memory;
  KernelRequest request{node, {}, threads};
  request.thread_team = thread_team;
  for (size_t i = 0; i < inputs.size(); ++i) {
    memory.emplace_back(ByteSize(node.inputs[i], option.input_layouts[i]), places.shift);
    LayOut(inputs[i], option.input_layouts[i], memory.back());
    request.operands.push_back({option.input_layouts[i], {}});
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    memory.emplace_back(ByteSize(node.outputs[i], option.output_layouts[i]), places.shift);
    request.operands.push_back({option.output_layouts[i], {}});
  }
  if (option.workspace_bytes > 0) memory.emplace_back(option.workspace_bytes, 0);
  const auto home = [&](size_t operand) {
    const bool shared = places.shared.has_value() &&
                        operand == inputs.size() + static_cast<size_t>(places.shared->output);
    return shared ? static_cast<size_t>(places.shared->input) : operand;
  };
  std::vector<Operand> operands;
  for (size_t i = 0; i < memory.size(); ++i) {
    operands.push_back(
        {reinterpret_cast<int64_t>(memory[home(i)].begin()), ArenaKind::kDevice, Access::kRead});
  }

  const PreparedKernel kernel = library.Prepare(option.kernel, request);
  SingleProcess communicator;
  RunContext context;
  context.communicator = &communicator;
  const int64_t before = CurrentHeapUse().allocations;
  kernel.run(context, {kernel.run, operands.data(), kernel.parameters.get(),
                       static_cast<int32_t>(operands.size()), 0});

  OptionRun run;
  run.allocations = CurrentHeapUse().allocations - before;
  for (size_t i = 0; i < memory.size(); ++i) {
    if (!memory[i].GuardsAreWhole()) {
      run.fault = "it wrote beside operand " + std::to_string(i);
    }
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Bytes& bytes = memory[home(inputs.size() + i)];
    run.outputs.push_back(ReadBack(node.outputs[i], option.output_layouts[i], bytes));
    const bool is_padded = IsFloat(node.outputs[i].dtype) || node.op == OpId::reorder;
    // A number that is not finite may reach the padding: ∞·0 is NaN.
    if (is_padded && !IsZero(bytes) && IsFinite(run.outputs.back())) {
      run.fault = "output " + std::to_string(i) + " is padded with other numbers than 0";
    }
  }
  return run;
}

}  // namespace cgrun
