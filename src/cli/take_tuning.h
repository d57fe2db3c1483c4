// The verbs use the tuning record of this machine through TakeTuning().
#ifndef CGRUN_CLI_TAKE_TUNING_H_
#define CGRUN_CLI_TAKE_TUNING_H_

#include <cstdint>

#include "src/compile/compile.h"
#include "src/kernels/kernel.h"
#include "src/model/model_spec.h"

namespace cgrun {

// --tune asks to measure, or in a dry run to say what would be measured. Without it nothing is
// asked.
enum class Tune : uint8_t { kNo, kYes, kDryRun };

// Has kernels chosen by the record of this machine, where there is one. With Tune::kYes the kernels
// of the model are measured first, and the record is written. Says on standard error what it did;
// a record that cannot be used is a warning. Throws InputError where a device cannot be tuned.
void TakeTuning(const ModelSpec& model, const KernelLibrary& library, Tune tune,
                CompileOptions& options);

}  // namespace cgrun

#endif  // CGRUN_CLI_TAKE_TUNING_H_
