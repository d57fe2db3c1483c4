// Makes kernels of f32 run nodes of bf16. Operands of bf16 are widened into the workspace, the
// kernel runs there, and its results are rounded on their way out. Every kernel of f32 is therefore
// one of bf16 too, at the price of two more passes. It is called "openblas.linear.widened".
#ifndef CGRUN_KERNELS_CPU_WIDENED_H_
#define CGRUN_KERNELS_CPU_WIDENED_H_

#include <string>
#include <string_view>
#include <vector>

#include "src/kernels/kernel.h"

namespace cgrun::cpu {

// Adds the options of `kernel` for `node` in f32; none where no operand is bf16. `library` has the
// casts.
void AddWidenedOptions(const KernelLibrary& library, const KernelDef& kernel,
                       const NodeSignature& node, const RunSetting& setting,
                       std::vector<KernelOption>* options);

// Returns the name of `kernel`, a kernel of f32, where it runs nodes of bf16.
std::string WidenedName(std::string_view kernel);

// Prepares `kernel`, of f32, for the nodes of bf16 in `request`.
PreparedKernel PrepareWidened(const KernelLibrary& library, const KernelDef& kernel,
                              const KernelRequest& request);

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_WIDENED_H_
