// A smaller batch for a run that does not fit under a cap.
#ifndef CGRUN_FIT_SMALLER_BATCH_H_
#define CGRUN_FIT_SMALLER_BATCH_H_

#include <optional>

#include "src/fit/fit_run.h"

namespace cgrun {

// Bytes of `run` that hardly depend on its batch.
int64_t BytesWithoutSamples(const PlannedRun& run);

// Holds the result of FindSmallerBatch.
struct SmallerRun {
  PlannedRun run;
  // If `run` has one sample and does not fit as it is, this is the same run with all recomputed
  // that helps.
  std::optional<PlannedRun> least = std::nullopt;
};

// Finds a smaller batch whose run is about as large as the cap takes. If there is none, finds a run
// of one sample, which may not fit. `run` does not fit, and its batch is more than 1. If `options`
// have no cap on the arena, batches are planned as they are. Otherwise all is recomputed that
// helps. The plans are quick ones, which can take a little more than a run does. After an error the
// result is empty.
std::optional<SmallerRun> FindSmallerBatch(const ModelSpec& model, const KernelLibrary& library,
                                           const CompileOptions& options, const PlannedRun& run,
                                           int64_t cap);

}  // namespace cgrun

#endif  // CGRUN_FIT_SMALLER_BATCH_H_
