// Preparing an image, and the loop that runs it.
#include "src/program/program.h"

#include <algorithm>

#include "src/base/check.h"
#include "src/io/checksum.h"
#include "src/ir/op_def.h"
#include "src/ops/initializers.h"

namespace cgrun {

const ImageEntry* ProgramImage::Find(EntryKind kind, int64_t batch) const {
  for (const ImageEntry& entry : entries) {
    if (entry.kind == kind && entry.batch == batch) return &entry;
  }
  return nullptr;
}

namespace {

// Whether an instruction's types are what its operator infers.
bool TypesAgree(const NodeSignature& node) {
  if (node.op == OpId::fused) return FaultOfFused(node).empty();
  InferContext context(node.attributes, node.inputs);
  return InferTypes(node.op, context) == node.outputs && !context.failed();
}

// Every output in the bytes of an input is a pair that the kernel may run in place.
bool RunsInPlace(const ImageInstruction& instruction, const std::vector<InPlacePair>& allowed) {
  const size_t inputs = instruction.node.inputs.size();
  for (size_t o = 0; o < instruction.node.outputs.size(); ++o) {
    const ImageOperand& output = instruction.operands[inputs + o];
    for (size_t i = 0; i < inputs; ++i) {
      const ImageOperand& input = instruction.operands[i];
      if (output.bytes == 0 || input.operand.offset != output.operand.offset ||
          input.operand.arena != output.operand.arena) {
        continue;
      }
      const InPlacePair pair{static_cast<int>(i), static_cast<int>(o)};
      if (std::find(allowed.begin(), allowed.end(), pair) == allowed.end()) return false;
    }
  }
  return true;
}

// The operands lie as the kernel reads and writes them.
bool LiesInLayouts(const ImageInstruction& instruction, const KernelOption& option) {
  std::vector<Layout> wanted = option.input_layouts;
  wanted.insert(wanted.end(), option.output_layouts.begin(), option.output_layouts.end());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const OperandLayout& layout = instruction.operands[i].layout;
    if (layout.layout != wanted[i] || !layout.strides.empty()) return false;
  }
  return true;
}

// The library has the chosen kernel, it takes the planned workspace and layouts, and runs in place
// where planned.
bool KernelAgrees(const ImageInstruction& instruction, const KernelLibrary& library) {
  const size_t tensors = instruction.node.inputs.size() + instruction.node.outputs.size();
  const int64_t workspace =
      instruction.operands.size() > tensors ? instruction.operands.back().bytes : 0;
  RunSetting setting{instruction.threads};
  for (size_t i = 0; i < instruction.node.inputs.size(); ++i) {
    setting.layouts.push_back(instruction.operands[i].layout.layout);
  }
  const std::vector<KernelOption> options = library.Options(instruction.node, setting);
  return std::any_of(options.begin(), options.end(), [&](const KernelOption& option) {
    return option.kernel == instruction.kernel && option.workspace_bytes == workspace &&
           LiesInLayouts(instruction, option) && RunsInPlace(instruction, option.in_place);
  });
}

// What VerifyImage cannot see without operators and kernels.
std::vector<std::string> VerifyKernels(const ProgramImage& image, const KernelLibrary& library) {
  std::vector<std::string> violations;
  for (const ImageState& state : image.states) {
    const std::vector<std::string> known = InitializerNames();
    if (std::find(known.begin(), known.end(), state.info.init) == known.end()) {
      violations.push_back(state.name + " has an unknown initialiser");
    }
    if (state.type.dtype == DType::kF16) violations.push_back(state.name + " is of type f16");
  }
  for (const ImageEntry& entry : image.entries) {
    for (const ImageInstruction& instruction : entry.instructions) {
      if (!TypesAgree(instruction.node)) {
        violations.push_back(instruction.name + " has types that its operator does not infer");
      } else if (!KernelAgrees(instruction, library)) {
        violations.push_back(instruction.name + " wants kernel " + instruction.kernel +
                             ", which does not fit it on this device");
      }
    }
  }
  return violations;
}

}  // namespace

Program::Program(ProgramImage image, Device& device, const KernelLibrary& library,
                 Communicator& communicator)
    : image_(std::move(image)), device_(device), library_(library) {
  std::vector<std::string> violations = VerifyImage(image_);
  if (violations.empty()) violations = VerifyKernels(image_, library_);
  if (!violations.empty()) {
    throw InputError("the program is not sound: " + violations[0],
                     "compile it again: `cgrun compile MODEL -o M.cgb`");
  }
  Prepare();
  context_.communicator = &communicator;
  context_.stream = device_.CreateStream();
  for (int kind = 0; kind < kArenaKinds; ++kind) {
    const int64_t bytes = image_.arena_bytes[static_cast<size_t>(kind)];
    if (bytes > 0) context_.arenas[kind] = device_.Allocate(static_cast<ArenaKind>(kind), bytes);
  }
  WriteConstants();
  InitializeStates();
}

Program::~Program() {
  for (int kind = 0; kind < kArenaKinds; ++kind) {
    if (context_.arenas[kind] != nullptr) {
      device_.Free(static_cast<ArenaKind>(kind), context_.arenas[kind]);
    }
  }
}

void Program::Prepare() {
  for (const ImageEntry& entry : image_.entries) {
    EntryPoint point{&entry, {}};
    for (size_t n = 0; n < entry.instructions.size(); ++n) {
      const ImageInstruction& source = entry.instructions[n];
      KernelRequest request{source.node, {}, source.threads};
      auto operands = std::make_unique<Operand[]>(source.operands.size());
      for (size_t i = 0; i < source.operands.size(); ++i) {
        operands[i] = source.operands[i].operand;
        if (source.operands[i].value >= 0) request.operands.push_back(source.operands[i].layout);
      }
      PreparedKernel kernel = library_.Prepare(source.kernel, request);
      point.instructions.push_back({kernel.run, operands.get(), kernel.parameters.get(),
                                    static_cast<int32_t>(source.operands.size()),
                                    static_cast<int32_t>(n)});
      parameters_.push_back(std::move(kernel.parameters));
      operands_.push_back(std::move(operands));
    }
    entries_.push_back(std::move(point));
  }
}

int Program::FindEntry(EntryKind kind, int64_t batch) const {
  for (size_t i = 0; i < image_.entries.size(); ++i) {
    if (image_.entries[i].kind == kind && image_.entries[i].batch == batch) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

void Program::Run(int entry) noexcept {
  for (const Instruction& instruction : entries_[static_cast<size_t>(entry)].instructions) {
    instruction.run(context_, instruction);
  }
}

std::byte* Program::Address(const Operand& operand) const {
  return context_.arenas[static_cast<int>(operand.arena)] + operand.offset;
}

void Program::Feed(const ImagePort& port, std::span<const std::byte> bytes) {
  CGRUN_CHECK(static_cast<int64_t>(bytes.size()) == port.bytes.bytes) << port.name;
  device_.Copy(CopyKind::kHostToDevice, Address(port.bytes.operand), bytes.data(), port.bytes.bytes,
               context_.stream);
}

void Program::Fetch(const ImagePort& port, std::span<std::byte> bytes) const {
  CGRUN_CHECK(static_cast<int64_t>(bytes.size()) == port.bytes.bytes) << port.name;
  device_.Copy(CopyKind::kDeviceToHost, bytes.data(), Address(port.bytes.operand), port.bytes.bytes,
               context_.stream);
  device_.Synchronize(context_.stream);
}

double Program::FetchScalar(const ImagePort& port) const {
  alignas(8) std::byte bytes[8] = {};
  Fetch(port, std::span(bytes, static_cast<size_t>(port.bytes.bytes)));
  switch (port.type.dtype) {
    case DType::kF64:
      return *reinterpret_cast<const double*>(bytes);
    case DType::kF32:
      return *reinterpret_cast<const float*>(bytes);
    case DType::kI64:
      return static_cast<double>(*reinterpret_cast<const int64_t*>(bytes));
    case DType::kI32:
      return *reinterpret_cast<const int32_t*>(bytes);
    case DType::kBF16:
      return static_cast<float>(*reinterpret_cast<const BFloat16*>(bytes));
    default:
      CGRUN_CHECK(false) << port.name << " is no number";
      return 0;
  }
}

void Program::WriteConstants() {
  for (const ImageConstant& constant : image_.constants) {
    const std::span<const std::byte> bytes = constant.tensor.bytes();
    device_.Copy(CopyKind::kHostToDevice, Address({constant.offset}), bytes.data(),
                 static_cast<int64_t>(bytes.size()), context_.stream);
  }
}

void Program::InitializeStates() {
  for (size_t i = 0; i < image_.states.size(); ++i) {
    const ImageState& state = image_.states[i];
    WriteState(i, InitialValue(state.name, state.type, state.info, image_.seed));
  }
}

HostTensor Program::ReadState(size_t index) const {
  const ImageState& state = image_.states[index];
  HostTensor tensor(state.type.dtype, state.type.shape);
  ReadState(index, tensor);
  return tensor;
}

void Program::ReadState(size_t index, HostTensor& tensor) const {
  const ImageState& state = image_.states[index];
  device_.Copy(CopyKind::kDeviceToHost, tensor.bytes().data(), Address({state.offset}),
               static_cast<int64_t>(tensor.bytes().size()), context_.stream);
  device_.Synchronize(context_.stream);
}

void Program::WriteState(size_t index, const HostTensor& tensor) {
  const ImageState& state = image_.states[index];
  CGRUN_CHECK(tensor.dtype() == state.type.dtype && tensor.shape() == state.type.shape)
      << state.name;
  device_.Copy(CopyKind::kHostToDevice, Address({state.offset}), tensor.bytes().data(),
               static_cast<int64_t>(tensor.bytes().size()), context_.stream);
}

uint64_t Program::StateHash() const {
  std::vector<size_t> order;
  for (size_t i = 0; i < image_.states.size(); ++i) {
    const Role role = image_.states[i].role;
    if (role == Role::kParameter || role == Role::kRunningStatistic) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return image_.states[a].name < image_.states[b].name; });
  uint64_t hash = 0;
  for (size_t i : order) {
    hash = HashBytes(std::as_bytes(std::span(image_.states[i].name)), hash);
    hash = HashBytes(ReadState(i).bytes(), hash);
  }
  return hash;
}

}  // namespace cgrun
