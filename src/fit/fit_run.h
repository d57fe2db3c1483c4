// Making a run fit into memory: under a cap on all that it takes, and with the largest batch.
#ifndef CGRUN_FIT_FIT_RUN_H_
#define CGRUN_FIT_FIT_RUN_H_

#include <optional>
#include <vector>

#include "src/fit/run_planner.h"

namespace cgrun {

// Returns the same model, trained with this batch.
ModelSpec WithBatch(const ModelSpec& model, int64_t batch);

// Returns how much longer a step of `capped` takes than one of `free`, as an estimate: 0.1 is a
// tenth.
inline double Slower(const PlannedRun& capped, const PlannedRun& free) {
  return (1 + capped.slowdown) / (1 + free.slowdown) - 1;
}

// A run under a cap. If capped.total() <= cap, it fits. Otherwise `capped` is the least that was
// found, which is never more than `free`.
struct CappedRun {
  int64_t cap = 0;
  PlannedRun free;    // without the cap
  PlannedRun capped;  // with it; `free`, where that fits or nothing takes less
  // CompileOptions that lead there; a cap of 0 where none is needed.
  int64_t arena_cap = 0;
  PlanEffort effort = PlanEffort::kFull;
  bool streams = true;
  bool out_of_reach = false;  // known not to fit, whatever is done for that

  bool fits() const { return capped.total() <= cap; }
  double slower() const { return Slower(capped, free); }
};
// A cap on the arena (CompileOptions::arena_cap) that asks for the least that there is.
inline constexpr int64_t kLeastArena = 1;

// Rounds the fixed memory to `left` bytes above its measured size, up to kBaseNoise. A run may take
// these bytes beyond the measured ones. They also cover the difference between two measurements:
// that of a run that is refused, and that of one that is promised to fit. So a refusal seldom
// differs from one process to the next.
void SetRoom(RunMemory& memory, int64_t left = kBaseLeft + 4 * kBaseNoise);

// Plans the run as it is. `base` is the run's fixed memory in bytes, if it is known. If it is not,
// the fixed memory is as planned. Its rounding is taken back as far as `cap` asks for that. A run
// that is known not to fit can be planned with gaps (CompileOptions::closes_gaps).
std::optional<PlannedRun> PlanFreeRun(RunPlanner& planner, const CompileOptions& options,
                                      int64_t cap, std::optional<int64_t> base,
                                      Diagnostics& diagnostics);

// Finds a run that fits in a fraction of the time that FitRun takes, or finds out that none fits.
// The run can be slower than that of FitRun. `free` is the result of PlanFreeRun.
std::optional<CappedRun> FitRunQuickly(RunPlanner& planner, CompileOptions options, int64_t cap,
                                       const PlannedRun& free, std::optional<int64_t> base,
                                       Diagnostics& diagnostics);

// `quick` is the result of FitRunQuickly.
std::optional<CappedRun> FitRun(RunPlanner& planner, CompileOptions options, const CappedRun& quick,
                                std::optional<int64_t> base, Diagnostics& diagnostics);

// The largest batch of FindLargestBatch with which a run takes at most `cap` bytes. Only cheap
// results are recomputed. It also says how much one sample more takes.
struct BatchFit {
  std::optional<PlannedRun> run;  // nothing where one sample does not fit
  PlannedRun next;                // with one sample more
  std::vector<int64_t> larger;    // batches that were tried beyond that: none of them fits
  bool all = false;  // no larger one was planned: it has all samples, or as many as are tried
  std::optional<int64_t> samples;  // of the training data; nothing where there is none
};
std::optional<BatchFit> FitBatch(const ModelSpec& model, const KernelLibrary& library,
                                 const CompileOptions& options, int64_t cap,
                                 Diagnostics& diagnostics);

// Tries a few batches, up to twice the one that was found. Returns the largest that fits as
// FitRunQuickly says, with steps that take at most a quarter longer. If there is none, the result
// is empty.
std::optional<CappedRun> FitLargerBatch(const ModelSpec& model, const KernelLibrary& library,
                                        CompileOptions options, int64_t cap, const BatchFit& found);

}  // namespace cgrun

#endif  // CGRUN_FIT_FIT_RUN_H_
