// An image in its arena, and the loop that runs it.
#include "src/program/program.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "src/base/allocation_counter.h"
#include "src/base/check.h"
#include "src/base/mapped_bytes.h"
#include "src/device/swap_file.h"
#include "src/ir/op_def.h"
#include "src/ops/initializers.h"

namespace cgrun {

const ImageEntry* ProgramImage::Find(EntryKind kind, int64_t batch) const {
  for (const ImageEntry& entry : entries) {
    if (entry.kind == kind && entry.batch == batch) return &entry;
  }
  return nullptr;
}

bool ReadsInPlace(const ImageState& state, bool on_host) {
  return state.layout.IsPlain() && on_host;
}

namespace {

// Two states less than this apart have padding between them alone: what lies in the arena begins
// at multiples of it.
constexpr int64_t kStateGap = 64;

// Returns the most transfers that one run begins. No more are under way at a time.
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
                 Communicator& communicator, const std::string& swap_folder, bool in_step,
                 const BeforeArenas& before_arenas)
    : image_(std::move(image)),
      device_(device),
      on_host_(KindOfDevice(library.name()).on_host),
      arenas_(device),
      code_(image_, device, library) {
  context_.communicator = &communicator;
  context_.stream = device_.CreateStream();
  if (before_arenas) before_arenas(image_);
  TakeArenas(swap_folder);
  WriteConstants();
  PrepareLayouts();
  FindStateStretches();
  PrepareStaging();
  stream_choices_.resize(image_.entries.size());
  CaptureRuns(in_step);
  InitializeStates();
}

// Returns null where nothing is swapped.
std::unique_ptr<SwapSpace> Program::MakeSwapSpace(const std::string& swap_folder) const {
  const int64_t bytes = image_.arena_bytes[static_cast<size_t>(ArenaKind::kFile)];
  if (bytes == 0) return nullptr;
  const size_t most = MostTransfers(image_);
  if (auto own = device_.MakeSwapSpace(context_.stream, bytes, most)) return own;
  if (swap_folder.empty()) {
    throw InputError("the program swaps to a file, and no folder is given for it",
                     "give one: `--swap DIR`");
  }
  return std::make_unique<SwapFile>(swap_folder, bytes, most);
}

// Takes the swap space first, since its place can be refused. Memory that compiling and preparing
// have freed is given back, so that it does not lie beside the arenas.
void Program::TakeArenas(const std::string& swap_folder) {
  ReleaseFreeMemory();
  swap_space_ = MakeSwapSpace(swap_folder);
  context_.swap_space = swap_space_.get();
  for (const ArenaKind kind : {ArenaKind::kDevice, ArenaKind::kPinnedHost}) {
    const int64_t bytes = image_.arena_bytes[static_cast<size_t>(kind)];
    if (bytes > 0) context_.arenas[static_cast<int>(kind)] = arenas_.Take(kind, bytes);
  }
}

// A run may be under way still, which errors of it no longer matter to.
Program::~Program() {
  if (!device_.is_asynchronous()) return;
  try {
    device_.Synchronize(context_.stream);
  } catch (const UserError&) {
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

bool Program::RunInstructions(int entry, const volatile std::sig_atomic_t* stop) {
  SendFeeds(entry);
  const EntryPoint& point = entries()[static_cast<size_t>(entry)];
  if (point.with_streams.empty()) {
    if (!RunAll(point.instructions, stop)) return false;
  } else {
    using Clock = std::chrono::steady_clock;
    StreamChoice& choice = stream_choices_[static_cast<size_t>(entry)];
    const Clock::time_point begin = Clock::now();
    if (!RunAll(choice.in_streams() ? point.with_streams : point.instructions, stop)) return false;
    choice.Took(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  BringResults(entry);
  return true;
}

bool Program::RunAll(const std::vector<Instruction>& instructions,
                     const volatile std::sig_atomic_t* stop) noexcept {
  static constexpr std::sig_atomic_t kNever = 0;
  const volatile std::sig_atomic_t& stopped = stop != nullptr ? *stop : kNever;
  for (const Instruction& instruction : instructions) {
    if (stopped != 0) return false;
    instruction.run(context_, instruction);
  }
  return true;
}

void Program::RunInStep(int entry) {
  RunBy(entry, [&](const RunContext& context, const Instruction& instruction) {
    instruction.run(context, instruction);
    try {
      device_.Synchronize(context.stream);
    } catch (const UserError& error) {
      const ImageEntry& of = image_.entries[static_cast<size_t>(entry)];
      const ImageInstruction& failed = of.instructions[static_cast<size_t>(instruction.node)];
      throw UserError((failed.source.empty() ? "" : failed.source + ": ") + "operator '" +
                          failed.name + "' of '" + of.name + "' (kernel " + failed.kernel +
                          ") failed: " + error.what(),
                      error.help());
    }
  });
}

bool Program::Run(int entry, const volatile std::sig_atomic_t* stop) {
  last_entry_ = entry;
  const auto& work = captured_[static_cast<size_t>(entry)];
  if (!work) return RunInstructions(entry, stop);
  is_under_way_ = true;
  work->Start();
  return true;
}

// A run that swaps to a file waits on the host, which no captured stream can do.
void Program::CaptureRuns(bool in_step) {
  captured_.resize(image_.entries.size());
  if (!device_.is_asynchronous()) return;
  const bool in_stream = swap_space_ == nullptr || swap_space_->in_stream();
  for (size_t i = 0; i < captured_.size(); ++i) {
    const int entry = static_cast<int>(i);
    if (in_step) {
      RunInStep(entry);
      continue;
    }
    RunInstructions(entry);  // on whatever is there, as kernels bear: libraries load their code
    if (!in_stream) continue;
    captured_[i] = device_.Capture(context_.stream, [this, entry] { RunInstructions(entry); });
  }
  device_.Synchronize(context_.stream);
}

void Program::SendFeeds(int entry) {
  const size_t count = image_.entries[static_cast<size_t>(entry)].feeds.size();
  for (size_t i = 0; i < count; ++i) SendFeed(entry, i);
}

void Program::SendFeeds(int entry, ReachSet changed) {
  const std::vector<ImagePort>& feeds = image_.entries[static_cast<size_t>(entry)].feeds;
  for (size_t i = 0; i < feeds.size(); ++i) {
    if ((feeds[i].reach & changed) != 0) SendFeed(entry, i);
  }
}

void Program::SendFeed(int entry, size_t feed) {
  const std::byte* const from = staged_[static_cast<size_t>(entry)].feed(feed);
  if (from == nullptr) return;
  const ImagePort& port = image_.entries[static_cast<size_t>(entry)].feeds[feed];
  device_.Copy(CopyKind::kHostToDevice, Address(port.bytes.operand), from, port.bytes.bytes,
               context_.stream);
  is_under_way_ = true;
}

void Program::BringResults(int entry) {
  const StagedPorts& staged = staged_[static_cast<size_t>(entry)];
  const std::vector<ImagePort>& results = image_.entries[static_cast<size_t>(entry)].results;
  for (size_t i = 0; i < results.size(); ++i) {
    std::byte* const to = staged.result(i);
    if (to == nullptr) continue;
    device_.Copy(CopyKind::kDeviceToHost, to, Address(results[i].bytes.operand),
                 results[i].bytes.bytes, context_.stream);
    is_under_way_ = true;
  }
}

void Program::AwaitRun() const {
  if (std::exchange(is_under_way_, false)) device_.Synchronize(context_.stream);
}

std::byte* Program::Address(const Operand& operand) const {
  return context_.arenas[static_cast<int>(operand.arena)] + operand.offset;
}

void Program::Feed(int entry, size_t feed, std::span<const std::byte> bytes) {
  const ImagePort& port = image_.entries[static_cast<size_t>(entry)].feeds[feed];
  CGRUN_CHECK(static_cast<int64_t>(bytes.size()) == port.bytes.bytes) << port.name;
  if (std::byte* const staged = staged_[static_cast<size_t>(entry)].feed(feed)) {
    AwaitRun();
    std::ranges::copy(bytes, staged);
    return;
  }
  device_.Copy(CopyKind::kHostToDevice, Address(port.bytes.operand), bytes.data(), port.bytes.bytes,
               context_.stream);
  device_.Synchronize(context_.stream);  // `bytes` may be of pinned memory, and change now
}

void Program::Fetch(int entry, size_t result, std::span<std::byte> bytes) const {
  const ImagePort& port = image_.entries[static_cast<size_t>(entry)].results[result];
  CGRUN_CHECK(static_cast<int64_t>(bytes.size()) == port.bytes.bytes) << port.name;
  if (const std::byte* const staged = staged_[static_cast<size_t>(entry)].result(result)) {
    AwaitRun();
    std::copy_n(staged, bytes.size(), bytes.begin());
    return;
  }
  Read(port.bytes, bytes);
}

void Program::Read(const ImageOperand& operand, std::span<std::byte> bytes) const {
  CGRUN_CHECK(static_cast<int64_t>(bytes.size()) == operand.bytes);
  device_.Copy(CopyKind::kDeviceToHost, bytes.data(), Address(operand.operand), operand.bytes,
               context_.stream);
  device_.Synchronize(context_.stream);
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

// States that only padding separates are copied together.
void Program::FindStateStretches() {
  std::vector<const ImageState*> states;
  for (const ImageState& state : image_.states) states.push_back(&state);
  std::ranges::sort(states, {}, &ImageState::offset);
  for (const ImageState* state : states) {
    const int64_t end = state->offset + ByteSize(state->type);
    Stretch* const last = state_stretches_.empty() ? nullptr : &state_stretches_.back();
    if (last != nullptr && state->offset - (last->offset + last->bytes) < kStateGap) {
      last->bytes = std::max(last->bytes, end - last->offset);
    } else {
      state_stretches_.push_back({state->offset, end - state->offset});
    }
  }
}

int64_t Program::StateImageBytes() const {
  int64_t bytes = 0;
  for (const Stretch& stretch : state_stretches_) bytes += stretch.bytes;
  return bytes;
}

void Program::SaveStates(std::span<std::byte> to) const {
  for (const Stretch& stretch : state_stretches_) {
    device_.Copy(CopyKind::kDeviceToHost, to.data(), Address({stretch.offset}), stretch.bytes,
                 context_.stream);
    to = to.subspan(static_cast<size_t>(stretch.bytes));
  }
  device_.Synchronize(context_.stream);
}

void Program::RestoreStates(std::span<const std::byte> from) {
  last_entry_ = -1;
  for (const Stretch& stretch : state_stretches_) {
    device_.Copy(CopyKind::kHostToDevice, Address({stretch.offset}), from.data(), stretch.bytes,
                 context_.stream);
    from = from.subspan(static_cast<size_t>(stretch.bytes));
  }
  device_.Synchronize(context_.stream);
}

void Program::PrepareStaging() {
  int64_t bytes = 0;
  for (const ImageEntry& entry : image_.entries) {
    staged_.emplace_back(entry, device_.is_asynchronous());
    bytes += staged_.back().bytes();
  }
  if (bytes == 0) return;
  std::byte* next = arenas_.Take(ArenaKind::kPinnedHost, bytes);
  for (StagedPorts& staged : staged_) {
    staged.PlaceAt(next);
    next += staged.bytes();
  }
}

void Program::InitializeStates() {
  for (size_t i = 0; i < image_.states.size(); ++i) {
    const ImageState& state = image_.states[i];
    FillState(i, [&](std::span<std::byte> plain) {
      FillInitialValue(state.name, state.type, state.info, image_.seed, plain);
    });
  }
}

HostTensor Program::ReadState(size_t index) const {
  const ImageState& state = image_.states[index];
  HostTensor tensor(state.type.dtype, state.type.shape);
  ReadState(index, tensor.bytes());
  return tensor;
}

std::span<const std::byte> Program::StateInPlace(size_t index) const {
  const ImageState& state = image_.states[index];
  if (!ReadsInPlace(state, on_host_)) return {};
  return {Address({state.offset}), static_cast<size_t>(ByteSize(state.type))};
}

void Program::ReadState(size_t index, std::span<std::byte> plain) const {
  const ImageState& state = image_.states[index];
  const auto read = [&](size_t offset, std::span<std::byte> to) {
    device_.Copy(CopyKind::kDeviceToHost, to.data(), Address({state.offset}) + offset,
                 static_cast<int64_t>(to.size()), context_.stream);
    device_.Synchronize(context_.stream);
  };
  if (const auto& copy = layout_copies_[index]) {
    copy->ToPlain(plain, staging_, read);
  } else {
    read(0, plain);
  }
}

void Program::WriteState(size_t index, const HostTensor& tensor) {
  const ImageState& state = image_.states[index];
  CGRUN_CHECK(tensor.dtype() == state.type.dtype && tensor.shape() == state.type.shape)
      << state.name;
  WritePlain(index, tensor.bytes());
}

void Program::FillState(size_t index, const std::function<void(std::span<std::byte> plain)>& fill) {
  const ImageState& state = image_.states[index];
  const auto bytes = static_cast<size_t>(ByteSize(state.type));
  if (ReadsInPlace(state, on_host_)) {
    last_entry_ = -1;
    return fill({Address({state.offset}), bytes});
  }
  const MappedBytes copy(bytes);  // a block of the heap would stay resident behind it
  fill(copy.bytes());
  WritePlain(index, copy.bytes());
}

void Program::WritePlain(size_t index, std::span<const std::byte> plain) {
  last_entry_ = -1;
  const ImageState& state = image_.states[index];
  const auto write = [&](size_t offset, std::span<const std::byte> from) {
    device_.Copy(CopyKind::kHostToDevice, Address({state.offset}) + offset, from.data(),
                 static_cast<int64_t>(from.size()), context_.stream);
  };
  if (const auto& copy = layout_copies_[index]) {
    copy->FromPlain(plain, staging_, [&](size_t offset, std::span<const std::byte> from) {
      write(offset, from);
      device_.Synchronize(context_.stream);  // before the next piece stands in the same bytes
    });
  } else {
    write(0, plain);
  }
}

}  // namespace cgrun
