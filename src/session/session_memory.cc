// The memory of a session is planned before it runs, and measured as it runs.
#include <algorithm>
#include <iterator>
#include <optional>

#include "src/base/allocation_counter.h"
#include "src/base/process_memory.h"
#include "src/fit/run_limit.h"
#include "src/fit/run_shape.h"
#include "src/model_data/data_findings.h"
#include "src/model_data/sample_order.h"
#include "src/run/measured_memory.h"
#include "src/run/pass_samples.h"
#include "src/session/session_parts.h"

namespace cgrun {
namespace {

// Upper bound of what prepared kernels add: tables, packed weights, compiled code, buffers of
// threads.
constexpr int64_t kMostPrepared = int64_t{192} << 20;

// Kernels may take up to this many bytes for workspaces.
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

constexpr const char* kLessArena =
    "a smaller batch needs less (`--batch N`); `cgrun plan MODEL` lists what takes the memory";
constexpr const char* kLessData =
    "fewer samples or a smaller batch need less; `cgrun plan MODEL` lists what takes the memory";
constexpr const char* kProgramHelp =
    "its arena was planned when it was compiled: compile the model again, with a smaller `--batch` "
    "or with `--memory SIZE`";

// Returns the host memory of the run beside the arena and the fixed memory, without the parts of
// entry points.
HostParts PartsOf(const SessionParts& session) {
  const SessionData& data = session.data;
  HostParts parts{.decoded_bytes = data.sets.decoded_bytes, .sets = {}, .batch = session.batch};
  if (data.train) {
    parts.saves = true;
    parts.kept_bytes = CheckpointBytes(data.findings);
    parts.sets.push_back(data.train->dataset.get());
    if (ShufflesSamples(session.model)) parts.shuffled = data.train->dataset.get();
  }
  for (const Split& split : data.evaluations) parts.sets.push_back(split.dataset.get());
  return parts;
}

// The same with what entry points add, as an engine or an image has them: copies of what is kept,
// and numbers of each sample.
template <class Entries>
HostParts PartsWith(const Entries& entries, const SessionParts& session) {
  HostParts parts = PartsOf(session);
  for (const auto& entry : entries) {
    for (const auto& result : entry.results) {
      if (result.kind == OutputKind::kKept) parts.kept_bytes += ByteSize(result.type);
    }
  }
  const auto& train = session.data.train;
  parts.kept_bytes += PassSampleBytes(SampleMetrics(entries[0]), parts.sets,
                                      train ? train->dataset.get() : nullptr);
  return parts;
}

int64_t DataBytes(const ProgramImage& image, const SessionParts& session) {
  HostParts parts = PartsWith(image.entries, session);
  parts.state_copy = StateCopyBytes(image.states, session.options.device);
  parts.kept_bytes += GroupBytes(image.states, session.data.sets.groups.get());
  for (const ImageState& state : image.states) {  // their zeros are kept
    if (state.role == Role::kRecurrentState) parts.kept_bytes += ByteSize(state.type);
  }
  return HostUseOf(parts).total();
}

// Counts the same in eager mode.
int64_t DataBytes(const SessionParts& session) {
  HostParts parts = PartsWith(session.engine().model().entries, session);
  parts.kept_bytes += session.recurrent.bytes();
  return HostUseOf(parts).total();
}

int64_t BaseOfNow(const ProgramImage* image, const SessionParts& session) {
  const SessionData& data = session.data;
  const int64_t sets = data.train.has_value() + std::ssize(data.evaluations);
  const bool calls_onednn =
      image != nullptr && CallsOneDnn(*image, *FindKernelLibrary(session.options.device));
  return PlannedBase(data.sets.decoded_bytes + session.run.device->counters().host_bytes,
                     LoaderOptions().workers * sets, calls_onednn);
}

// The cap of an evaluation; a run that trains was fitted into its own.
std::optional<RunLimit> CapOfEvaluation(const SessionParts& session) {
  const bool has_cap = !session.data.train && session.options.cap == DataCap::kOfRun;
  return has_cap ? CapOf(session.model) : std::nullopt;
}

// Threads that are still to come.
int64_t LoadersOf(const SessionParts& session) {
  return session.data.train.has_value() + std::ssize(session.data.evaluations);
}

void CheckLimits(const ProgramImage* image, const SessionParts& session) {
  const SessionOptions& options = session.options;
  const RunMemory run = RunMemoryOf(session.memory, options.device, LoadersOf(session));
  const auto limit = BrokenLimit(run, options.limits ? *options.limits : ReadHostLimits(),
                                 CapOfEvaluation(session));
  if (!limit) return WatchRoom(nullptr);  // it may fill what there is
  if (options.can_replan) throw MayNotFit();
  const bool is_given = options.image != nullptr && session.run.recompiled.empty();
  RefuseRun(run, *limit, image, {is_given ? kProgramHelp : kLessArena, kLessData});
}

}  // namespace

void CheckBound(const SessionParts& session, const Graph& forward) {
  const SessionOptions& options = session.options;
  RunMemory most;
  most.on_host = KindOfDevice(options.device).on_host;
  most.arena = MostArena(forward, session.batch);
  most.data = HostUseOf(PartsOf(session)).total();
  most.base = MeasureBase(session.data.sets.decoded_bytes) + kMostPrepared;
  most.beside = MeasureFootprint(most, options.compile.threads + LoadersOf(session));
  const HostLimits limits = options.limits ? *options.limits : ReadHostLimits();
  if (most.peak() > LargestPeak(limits, most)) throw MayNotFit();
}

void PlanMemoryOf(const ProgramImage& image, SessionParts& session) {
  const SessionOptions& options = session.options;
  MemoryUse& memory = session.memory;
  memory.arena = image.memory_bytes();
  memory.start = std::max(PlannedStart(), session.data.sets.opening_bytes);
  memory.data = DataBytes(image, session);
  memory.base = options.base ? *options.base : BaseOfNow(&image, session);
  if (options.trace) memory.base += kTracedRuns * sizeof(OperatorRun);
  CheckLimits(&image, session);
}

void CountBase(SessionParts& session) {
  const SessionOptions& options = session.options;
  const Program* const program = session.run.program;
  MemoryUse& memory = session.memory;
  memory.base =
      options.base ? *options.base : BaseOfNow(program ? &program->image() : nullptr, session);
  if (options.base && options.trace) memory.base += kTracedRuns * sizeof(OperatorRun);
}

void CountData(SessionParts& session) {
  if (session.run.program != nullptr) return;
  session.memory.data = DataBytes(session);
  CheckLimits(/*image=*/nullptr, session);
}

void NoteMemory(SessionParts& session) {
  NoteMeasured(session.engine(), *session.run.device, session.memory);
}

}  // namespace cgrun
