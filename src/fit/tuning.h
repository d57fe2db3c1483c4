// The tuning record of a machine: its file, and how it is made.
#ifndef CGRUN_FIT_TUNING_H_
#define CGRUN_FIT_TUNING_H_

#include <cstdint>
#include <memory>
#include <string>

#include "src/compile/compile.h"
#include "src/kernels/kernel.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Returns the place of the record of this machine and these kernels. It is $CGRUN_TUNING. Otherwise
// it is a file in $XDG_CACHE_HOME/cgrun or ~/.cache/cgrun, whose name has a hash of the processor
// and the kernels' fingerprint. The result is "" where there is no such folder, or none is wanted.
std::string TuningFile(const KernelLibrary& library);
// Returns whether $CGRUN_TUNING is `none`: kernels are chosen by estimates.
bool DoesWithoutTuning();

// The record in `path`; null where there is no such file. Throws InputError for one that is
// damaged, or of other kernels than `library`'s.
std::shared_ptr<TuningRecord> LoadTuning(const std::string& path, const KernelLibrary& library);

// Writes it, with the folder that it lies in. Throws UserError.
void SaveTuning(const std::string& path, const TuningRecord& record, const KernelLibrary& library);

// Measures the kernels that training, evaluation and eager mode of a model can choose from, in a
// child process where there can be one. Puts their times into the record of `options`, and makes a
// record if there is none. Times that were there already are replaced. Returns the number of times.
// Errors of the model are left to the compile that follows.
int64_t TuneKernels(const ModelSpec& model, const KernelLibrary& library, CompileOptions& options);

}  // namespace cgrun

#endif  // CGRUN_FIT_TUNING_H_
