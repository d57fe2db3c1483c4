// Helpers that every kernel library uses to answer the compiler.
#ifndef CGRUN_KERNELS_EVALUATE_H_
#define CGRUN_KERNELS_EVALUATE_H_

#include <optional>
#include <span>
#include <vector>

#include "src/kernels/kernel.h"

namespace cgrun {

// The option of a kernel for a node that it supports, with an estimate of its time; nothing where
// it says that it cannot after all.
std::optional<KernelOption> MakeOption(const KernelDef& kernel, const NodeSignature& node, int threads);

// Runs a bound node once on host memory with the library's preferred kernel; nothing if it has none
// or it needs another layout than plain.
std::optional<std::vector<HostTensor>> EvaluateOnHost(const KernelLibrary& library,
                                                      const NodeSignature& node,
                                                      std::span<const HostTensor> inputs);

}  // namespace cgrun

#endif  // CGRUN_KERNELS_EVALUATE_H_
