// Checks a model without running it. Lint() reports everything that is wrong with the file and with
// its data, and how much a run will take.
#ifndef CGRUN_CHECK_LINT_H_
#define CGRUN_CHECK_LINT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/compile/compile.h"
#include "src/model_data/model_data.h"

namespace cgrun {

struct LintReport {
  ModelData data;            // open
  int64_t samples_read = 0;  // of all sets, to see whether they can be
  // The host needs so many bytes for a run with all that it holds (RunMemory::host()); 0 after an
  // error.
  int64_t needed_bytes = 0;
  int64_t free_bytes = 0;  // that such a run may take of the host: LargestPeak()
};

// Reports as errors whatever `train`, `eval` and `predict` would report of the file, the data and
// the file's `weights` before they begin. Samples that cannot be read, of up to 256 of each set,
// and labels that name no class are errors, too.
//
// Warns of inputs and operators whose values nobody reads, of units of logits that no label names,
// of data that the file does not have, and of weights that fit in part. Calls WarnOfSettings().
LintReport Lint(const ModelSpec& model, const KernelLibrary& library, const CompileOptions& options,
                Diagnostics& diagnostics);

// Errors of optimizers and their schedules, for verbs that do not need them.
void LintOptimizers(const ModelSpec& model, DType precision, Diagnostics& diagnostics);

// Reports further errors of a file for which reading has reported errors. `partial` holds all that
// could be read (see LoadModelFile). Data is not opened.
void LintPartial(const ModelSpec& partial, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_CHECK_LINT_H_
