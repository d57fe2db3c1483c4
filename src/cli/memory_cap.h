// --memory, --swap and `batch: auto` on the command line: what they make of a run, and how that is
// told.
#ifndef CGRUN_CLI_MEMORY_CAP_H_
#define CGRUN_CLI_MEMORY_CAP_H_

#include <optional>

#include "src/cli/model_flags.h"
#include "src/device/host_limits.h"
#include "src/fit/run_shape.h"

namespace cgrun {

// FitMemory() returns this for a model.
struct FittedRun {
  bool fits = false;                // else there was an error, which is printed
  std::optional<RunMemory> memory;  // that the run is planned to take, where that had to be known
  Diagnostics printed = {};         // these were reported
  // Under a cap, recomputed operators make steps this much longer than without one, as an estimate.
  // The second number is the slowdown that steps have without a cap.
  std::optional<double> slower = {};
  double slowdown_without_cap = 0;
};

// Fits a run for verbs that train or plan. If the model leaves the batch to us, `model` gets the
// largest one under its cap, or in the memory that there is. Else sets the arena's cap, the effort
// and the parallel streams of `options` where the cap takes that. Says on standard error what came
// out, and what it costs. A run that does not fit is an error, which names the values at the peak
// and what would help.
//
// `flags` are those that `model` was loaded with. `base` is the fixed memory of a run that goes on,
// in bytes, so that it fits as before. Without it, the fixed memory is as planned. `here` are the
// limits of the process that is to run: where they allow less than a cap, they count instead of it.
FittedRun FitMemory(const ModelFlags& flags, ModelSpec& model, CompileOptions& options,
                    std::optional<int64_t> base = std::nullopt,
                    const std::optional<HostLimits>& here = std::nullopt);

// Fits a run that has no cap within `limits`. `model` has its batch, and gets `data->streams` if
// its data must lie in files.
FittedRun FitWithin(const HostLimits& limits, ModelSpec& model, CompileOptions& options,
                    std::optional<int64_t> base = std::nullopt);

struct FittedHere {
  FittedRun run;
  std::optional<int64_t> most = {};  // bytes that such a run may take here, where it has no cap
};

// The same, for verbs that run such a model: the limits are those of this process. Nothing changes
// if the run has a cap, or fits as it is.
FittedHere FitHere(ModelSpec& model, CompileOptions& options);

}  // namespace cgrun

#endif  // CGRUN_CLI_MEMORY_CAP_H_
