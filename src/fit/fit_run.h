// Making a run fit into memory: under a cap on all that it takes, and with the largest batch.
#ifndef CGRUN_FIT_FIT_RUN_H_
#define CGRUN_FIT_FIT_RUN_H_

#include <optional>
#include <vector>

#include "src/fit/run_planner.h"

namespace cgrun {

// Returns the same model, trained with this batch.
ModelSpec WithBatch(const ModelSpec& model, int64_t batch);

// How much longer a step of `capped` takes than one of `free`, as it is estimated: 0.1 is a tenth.
inline double Slower(const PlannedRun& capped, const PlannedRun& free) {
  return (1 + capped.slowdown) / (1 + free.slowdown) - 1;
}

// A run under a cap. It fits where capped.total() <= cap; else that is the least that was found,
// which is never more than `free`.
struct CappedRun {
  int64_t cap = 0;
  PlannedRun free;    // without the cap
  PlannedRun capped;  // with it; `free`, where that fits or nothing takes less
  // CompileOptions that lead there; a cap of 0 where none is needed.
  int64_t arena_cap = 0;
  PlanEffort effort = PlanEffort::kFull;
  bool lanes = true;
  bool out_of_reach = false;  // known not to fit, whatever is done for that

  bool fits() const { return capped.total() <= cap; }
  double slower() const { return Slower(capped, free); }
};
// A cap on the arena (CompileOptions::arena_cap) that asks for the least that there is.
inline constexpr int64_t kLeastArena = 1;

// Rounds the base to `left` bytes above its measured size, up to kBaseNoise. These bytes are room
// for what a run takes beyond the measured base. They also cover the difference between two
// measured bases: that of a run that is refused, and that of one that is promised to fit. So a
// refusal seldom differs from one process to the next.
void SetRoom(RunMemory& memory, int64_t left = kBaseLeft + 4 * kBaseNoise);

// The run as it is. `base`: the run's base, where that is known; nothing: as it is planned. The
// base's rounding is taken back as far as `cap` asks for that. A run that is known not to fit can
// be planned with gaps (CompileOptions::closes_gaps).
std::optional<PlannedRun> PlanFreeRun(RunPlanner& planner, const CompileOptions& options,
                                      int64_t cap, std::optional<int64_t> base,
                                      Diagnostics& diagnostics);

// Begins, beside each other, what PlanFreeRun plans and, where that is too much by a quick plan of
// it, what FitRunQuickly begins with: most of what a refusal waits for. An estimate of the run as
// it is, which does not fit; nothing where it may, and where plans are not made beside each other.
std::optional<PlannedRun> PlanAhead(RunPlanner& planner, const CompileOptions& options, int64_t cap,
                                    std::optional<int64_t> base);

// `free`: what PlanFreeRun says; `ahead`: what PlanAhead said with the same options, if it did. In
// a fraction of the time that FitRun takes, and so is it known that nothing fits; what is found can
// be slower than what FitRun finds.
std::optional<CappedRun> FitRunQuickly(RunPlanner& planner, CompileOptions options, int64_t cap,
                                       const PlannedRun& free, std::optional<int64_t> base,
                                       Diagnostics& diagnostics,
                                       const std::optional<PlannedRun>& ahead = std::nullopt);

// `quick`: what FitRunQuickly says.
std::optional<CappedRun> FitRun(RunPlanner& planner, CompileOptions options, const CappedRun& quick,
                                std::optional<int64_t> base, Diagnostics& diagnostics);

// The largest batch that FindLargestBatch finds with which a run takes at most `cap` bytes with
// nothing computed again but what is cheap, and what one sample more takes.
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

// The largest of a few batches, up to twice the one that was found, that fits as FitRunQuickly says
// with steps that take at most a quarter longer. Nothing where none does.
std::optional<CappedRun> FitLargerBatch(const ModelSpec& model, const KernelLibrary& library,
                                        CompileOptions options, int64_t cap, const BatchFit& found);

}  // namespace cgrun

#endif  // CGRUN_FIT_FIT_RUN_H_
