// An image in its arena, and the loop that runs it.
#include "src/program/program.h"

#include <algorithm>

#include "src/base/check.h"
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

// That one run begins, so that no more are under way at a time.
size_t MostTransfers(const ProgramImage& image) {
  size_t most = 0;
  for (const ImageEntry& entry : image.entries) {
    const auto transfers = std::ranges::count_if(
        entry.instructions, [](const ImageInstruction& i) { return IsTransfer(i.node.op); });
    most = std::max(most, static_cast<size_t>(transfers));
  }
  return most;
}

}  // namespace

Program::Program(ProgramImage image, Device& device, const KernelLibrary& library,
                 Communicator& communicator, const std::string& swap_folder)
    : image_(std::move(image)), device_(device), code_(image_, device, library) {
  context_.communicator = &communicator;
  context_.stream = device_.CreateStream();
  TakeArenas(swap_folder);
  WriteConstants();
  PrepareLayouts();
  InitializeStates();
}

// The file first: its place can be refused, and nothing is to be given back then.
void Program::TakeArenas(const std::string& swap_folder) {
  const int64_t file_bytes = image_.arena_bytes[static_cast<size_t>(ArenaKind::kFile)];
  if (file_bytes > 0) {
    if (swap_folder.empty()) {
      throw InputError("the program swaps to a file, and no folder is given for it",
                       "give one: `--swap DIR`");
    }
    swap_file_ = std::make_unique<SwapFile>(swap_folder, file_bytes, MostTransfers(image_));
    context_.swap_file = swap_file_.get();
  }
  for (const ArenaKind kind : {ArenaKind::kDevice, ArenaKind::kPinnedHost}) {
    const int64_t bytes = image_.arena_bytes[static_cast<size_t>(kind)];
    if (bytes > 0) context_.arenas[static_cast<int>(kind)] = device_.Allocate(kind, bytes);
  }
}

Program::~Program() {
  swap_file_.reset();  // its thread knows places in the arenas
  for (int kind = 0; kind < kArenaKinds; ++kind) {
    if (context_.arenas[kind] != nullptr) {
      device_.Free(static_cast<ArenaKind>(kind), context_.arenas[kind]);
    }
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

bool Program::CanRunChanged(int entry) const {
  return entry == last_entry_ && image_.entries[static_cast<size_t>(entry)].incremental;
}

void Program::Run(int entry) noexcept {
  last_entry_ = entry;
  for (const Instruction& instruction : entries()[static_cast<size_t>(entry)].in_run()) {
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
  Read(port.bytes, bytes);
}

void Program::Read(const ImageOperand& operand, std::span<std::byte> bytes) const {
  CGRUN_CHECK(static_cast<int64_t>(bytes.size()) == operand.bytes);
  device_.Copy(CopyKind::kDeviceToHost, bytes.data(), Address(operand.operand), operand.bytes,
               context_.stream);
  device_.Synchronize(context_.stream);
}

double Program::FetchScalar(const ImagePort& port) const {
  alignas(8) std::byte bytes[8] = {};
  Fetch(port, std::span(bytes, static_cast<size_t>(port.bytes.bytes)));
  return NumberAt(port.type.dtype, bytes);
}

void Program::WriteConstants() {
  for (const ImageConstant& constant : image_.constants) {
    const std::span<const std::byte> bytes = constant.tensor.bytes();
    device_.Copy(CopyKind::kHostToDevice, Address({constant.offset}), bytes.data(),
                 static_cast<int64_t>(bytes.size()), context_.stream);
  }
}

void Program::PrepareLayouts() {
  constexpr size_t kStagingBytes = 16 << 10;
  layout_copies_.resize(image_.states.size());
  for (size_t i = 0; i < image_.states.size(); ++i) {
    const ImageState& state = image_.states[i];
    if (state.layout.IsPlain()) continue;
    layout_copies_[i].emplace(state.type, state.layout);
    staging_.resize(kStagingBytes);
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
  const auto read = [&](size_t offset, std::span<std::byte> to) {
    device_.Copy(CopyKind::kDeviceToHost, to.data(), Address({state.offset}) + offset,
                 static_cast<int64_t>(to.size()), context_.stream);
    device_.Synchronize(context_.stream);
  };
  if (const auto& copy = layout_copies_[index]) {
    copy->ToPlain(tensor.bytes(), staging_, read);
  } else {
    read(0, tensor.bytes());
  }
}

void Program::WriteState(size_t index, const HostTensor& tensor) {
  last_entry_ = -1;
  const ImageState& state = image_.states[index];
  CGRUN_CHECK(tensor.dtype() == state.type.dtype && tensor.shape() == state.type.shape)
      << state.name;
  const auto write = [&](size_t offset, std::span<const std::byte> from) {
    device_.Copy(CopyKind::kHostToDevice, Address({state.offset}) + offset, from.data(),
                 static_cast<int64_t>(from.size()), context_.stream);
  };
  if (const auto& copy = layout_copies_[index]) {
    copy->FromPlain(tensor.bytes(), staging_, [&](size_t offset, std::span<const std::byte> from) {
      write(offset, from);
      device_.Synchronize(context_.stream);  // before the next piece stands in the same bytes
    });
  } else {
    write(0, tensor.bytes());
  }
}

}  // namespace cgrun
