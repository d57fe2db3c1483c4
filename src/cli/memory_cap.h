// --memory and `batch: auto` on the command line: what they make of a run, and how that is told.
#ifndef CGRUN_CLI_MEMORY_CAP_H_
#define CGRUN_CLI_MEMORY_CAP_H_

#include <optional>

#include "src/train/fit_run.h"

namespace cgrun {

// The largest batch of a model that leaves it to us, under its cap or in what memory there is; says
// on standard error how large it is, and why it is no larger. Nothing after an error.
std::optional<int64_t> FindBatch(const ModelSpec& model, const KernelLibrary& library,
                                 const CompileOptions& options, Diagnostics& diagnostics);

// Sets options.arena_cap where the cap of `model` takes that, and says on standard error what it
// costs. A run that does not fit is an error at the cap, with what holds the peak and what would
// help. False after an error.
bool KeepMemoryCap(const ModelSpec& model, const KernelLibrary& library, CompileOptions& options,
                   Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_CLI_MEMORY_CAP_H_
