// What a session takes of the memory, as planned and as measured.
#include <iterator>
#include <string>

#include "src/base/allocation_counter.h"
#include "src/base/written_bytes.h"
#include "src/fit/run_planner.h"
#include "src/fit/run_shape.h"
#include "src/model_data/data_findings.h"
#include "src/run/measured_memory.h"
#include "src/run/pass_samples.h"
#include "src/session/session.h"

namespace cgrun {
namespace {

// Upper bound of what prepared kernels add: tables, packed weights, compiled code, buffers of
// threads.
constexpr int64_t kMostPrepared = int64_t{192} << 20;

// What kernels may take for workspaces.
constexpr int64_t kMostWorkspace = int64_t{64} << 20;

int64_t BytesAt(const TensorType& type, int64_t batch) {
  int64_t bytes = SizeOf(type.dtype);
  for (int axis = 0; axis < type.shape.rank(); ++axis) {
    bytes *= type.shape[axis].batch ? type.shape[axis].size * batch : type.shape[axis].size;
  }
  return bytes;
}

// More than an arena takes in which all values of a step lie beside their gradients, and all
// parameters beside theirs and the state of an optimizer.
int64_t MostArena(const Graph& forward, int64_t batch) {
  int64_t states = 0, values = 0;
  for (const Value& value : forward.values) {
    (IsState(value.role) ? states : values) += BytesAt(value.type, batch);
  }
  return 4 * states + 2 * values + kMostWorkspace;
}

// The error of a run that takes more than `free` bytes.
[[noreturn]] void RefuseRun(const MemoryUse& memory, const std::optional<MemoryLayout>& layout,
                            int64_t free) {
  std::string holders = layout ? HoldersText(HoldersOfPeak(*layout), NeededMiB) : "";
  if (!holders.empty()) holders = "; the arena's peak is held by " + holders;
  throw UserError(
      "the run takes " + NeededMiB(memory.in_steps()) + " of memory, and " + FreeMiB(free) +
          " are free: arena " + NeededMiB(memory.arena) + ", data " + NeededMiB(memory.data) +
          ", base " + NeededMiB(memory.base) + holders,
      "a smaller batch needs less (--batch N); `cgrun plan MODEL` lists what takes the memory");
}

}  // namespace

int64_t Session::BaseOfNow() const {
  const int64_t loaders = LoaderOptions().workers * (train_.has_value() + std::ssize(evaluations_));
  const bool calls_onednn = program_ != nullptr && CallsOneDnn(program_->image());
  return PlannedBase(data_.decoded_bytes + device_->counters().host_bytes, loaders, calls_onednn);
}

HostUse Session::DataUse(const std::vector<ImageState>& states) const {
  HostParts parts{.decoded_bytes = data_.decoded_bytes, .sets = {}, .batch = batch_};
  parts.kept_bytes = recurrent_.bytes() + (kept_ ? kept_->bytes() : 0);
  parts.state_copy = StateCopyBytes(states, options_.device);
  if (train_) {
    parts.saves = true;
    parts.kept_bytes += CheckpointBytes(findings_);
    parts.sets.push_back(train_->dataset.get());
  }
  for (const Split& split : evaluations_) parts.sets.push_back(split.dataset.get());
  if (engine_ != nullptr) {
    parts.kept_bytes += PassSampleBytes(SampleMetrics(engine_->model().entries[0]), parts.sets,
                                        train_ ? train_->dataset.get() : nullptr);
  }
  return HostUseOf(parts);
}

void Session::CheckLimits(const Graph& forward) const {
  RunMemory most;
  most.on_host = KindOfDevice(options_.device).on_host;
  most.arena = MostArena(forward, batch_);
  most.data = DataUse({}).total();
  most.base = MeasureBase(data_.decoded_bytes) + kMostPrepared;
  most.beside = MeasureFootprint(most, options_.compile.threads + std::ssize(evaluations_) + 1);
  if (most.peak() > LargestPeak(*options_.limits, most)) throw MayNotFit();
}

// Call it when arena, data and compiled code are there, but neither the loaders' buffers nor that
// of the file of checkpoints.
void Session::CountMemory() {
  memory_.data = DataUse(program_ ? program_->image().states : std::vector<ImageState>()).total();
  const bool on_host = KindOfDevice(options_.device).on_host;
  const int64_t free = ResidentBytes() + (options_.free ? *options_.free : FreeHostMemory());
  if (memory_.in_steps() - (on_host ? 0 : memory_.arena) > free) {
    RefuseRun(memory_, layout_, free);
  }
}

void Session::FreeArenas() {
  NoteMemory();
  engine_->FreeArenas();
}

const MemoryUse& Session::MeasureMemory() {
  NoteMemory();
  return memory_;
}

void Session::NoteMemory() { NoteMeasured(*engine_, *device_, memory_); }

}  // namespace cgrun
