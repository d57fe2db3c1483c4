// Checks whether bf16 is faster on a device.
#ifndef CGRUN_LINT_BF16_SPEED_H_
#define CGRUN_LINT_BF16_SPEED_H_

#include "src/base/diagnostics.h"
#include "src/kernels/kernel.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Returns whether the device has a kernel that multiplies matrices of bf16 as they are. Where it
// has none, those of f32 run on copies, which takes longer than f32 itself.
bool MultipliesBF16(const KernelLibrary& library);

// Warns, where the file says so, of `precision: bf16` on a device that does not.
void WarnOfSlowBF16(const ModelSpec& model, const KernelLibrary& library, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_LINT_BF16_SPEED_H_
