// The memory of a session is planned before it runs, and measured as it runs.
#include <iterator>
#include <string>

#include "src/base/allocation_counter.h"
#include "src/base/written_bytes.h"
#include "src/fit/run_planner.h"
#include "src/fit/run_shape.h"
#include "src/model_data/data_findings.h"
#include "src/run/measured_memory.h"
#include "src/run/pass_samples.h"
#include "src/session/session_parts.h"

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

// What the run holds of the host beside arena and base; `states` are those of its program.
HostUse DataUse(const SessionParts& session, const std::vector<ImageState>& states) {
  const SessionData& data = session.data;
  const Dataset* const train = data.train ? data.train->dataset.get() : nullptr;
  HostParts parts{.decoded_bytes = data.sets.decoded_bytes, .sets = {}, .batch = session.batch};
  parts.kept_bytes = session.recurrent.bytes() + (session.kept ? session.kept->bytes() : 0);
  parts.state_copy = StateCopyBytes(states, session.options.device);
  if (train != nullptr) {
    parts.saves = true;
    parts.kept_bytes += CheckpointBytes(data.findings);
    parts.sets.push_back(train);
  }
  for (const Split& split : data.evaluations) parts.sets.push_back(split.dataset.get());
  if (session.run.engine != nullptr) {
    const EngineEntry& first = session.engine().model().entries[0];
    parts.kept_bytes += PassSampleBytes(SampleMetrics(first), parts.sets, train);
  }
  return HostUseOf(parts);
}

}  // namespace

int64_t BaseOfNow(const SessionParts& session) {
  const SessionData& data = session.data;
  const SessionEngine& run = session.run;
  const int64_t sets = data.train.has_value() + std::ssize(data.evaluations);
  const bool calls_onednn =
      run.program != nullptr &&
      CallsOneDnn(run.program->image(), *FindKernelLibrary(session.options.device));
  return PlannedBase(data.sets.decoded_bytes + run.device->counters().host_bytes,
                     LoaderOptions().workers * sets, calls_onednn);
}

void CheckLimits(const SessionParts& session, const Graph& forward) {
  const SessionOptions& options = session.options;
  const SessionData& data = session.data;
  RunMemory most;
  most.on_host = KindOfDevice(options.device).on_host;
  most.arena = MostArena(forward, session.batch);
  most.data = DataUse(session, {}).total();
  most.base = MeasureBase(data.sets.decoded_bytes) + kMostPrepared;
  most.beside = MeasureFootprint(most, options.compile.threads + std::ssize(data.evaluations) + 1);
  if (most.peak() > LargestPeak(*options.limits, most)) throw MayNotFit();
}

void CountMemory(SessionParts& session) {
  const SessionOptions& options = session.options;
  const Program* const program = session.run.program;
  MemoryUse& memory = session.memory;
  memory.data =
      DataUse(session, program ? program->image().states : std::vector<ImageState>()).total();
  const bool on_host = KindOfDevice(options.device).on_host;
  const int64_t free = ResidentBytes() + (options.free ? *options.free : FreeHostMemory());
  if (memory.in_steps() - (on_host ? 0 : memory.arena) > free) {
    RefuseRun(memory, session.run.layout, free);
  }
}

void NoteMemory(SessionParts& session) {
  NoteMeasured(session.engine(), *session.run.device, session.memory);
}

}  // namespace cgrun
