// A smaller batch for a run that does not fit under a cap.
#ifndef CGRUN_FIT_SMALLER_BATCH_H_
#define CGRUN_FIT_SMALLER_BATCH_H_

#include <optional>

#include "src/fit/fit_run.h"

namespace cgrun {

// Bytes of `run` that hardly depend on its batch.
int64_t BytesWithoutSamples(const PlannedRun& run);

// Holds the result of SmallerBatch.
struct SmallerRun {
  PlannedRun run;
  // If `run` has one sample and does not fit as it is, this is the same run with all recomputed
  // that helps.
  std::optional<PlannedRun> least = std::nullopt;
};

// Searches beside the work of this process, in a child process where there can be one. It looks for
// a smaller batch whose run is about as large as the cap takes. If there is none, it finds a run of
// one sample, which may not fit.
class SmallerBatch {
 public:
  // `run` does not fit, and its batch is more than 1. If `options` have no cap on the arena,
  // batches are planned as they are. Otherwise all is recomputed that helps. The plans are quick
  // ones, which can take a little more than a run does. All but `run` outlive the search.
  SmallerBatch(const ModelSpec& model, const KernelLibrary& library, const CompileOptions& options,
               const PlannedRun& run, int64_t cap);

  // Waits for the search. After an error the result is empty.
  std::optional<SmallerRun> Wait();

 private:
  std::optional<SmallerRun> Search() const;

  const ModelSpec& model_;
  const KernelLibrary& library_;
  CompileOptions options_;
  PlannedRun run_;
  int64_t cap_;
  TextOfChild child_;  // "": nothing was found
};

}  // namespace cgrun

#endif  // CGRUN_FIT_SMALLER_BATCH_H_
