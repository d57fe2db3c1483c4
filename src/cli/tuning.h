// What the verbs do with the tuning record of this machine.
#ifndef CGRUN_CLI_TUNING_H_
#define CGRUN_CLI_TUNING_H_

#include "src/compile/compile.h"
#include "src/kernels/kernel.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Has kernels chosen by the record of this machine, where there is one. With `tune` the kernels of
// the model are measured first, and the record is written. Says on standard error what it did;
// a record that cannot be used is a warning. Throws InputError where a device cannot be tuned.
void TakeTuning(const ModelSpec& model, const KernelLibrary& library, bool tune,
                CompileOptions& options);

}  // namespace cgrun

#endif  // CGRUN_CLI_TUNING_H_
