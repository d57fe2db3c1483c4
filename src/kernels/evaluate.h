// Helpers that every kernel library uses to answer the compiler.
#ifndef CGRUN_KERNELS_EVALUATE_H_
#define CGRUN_KERNELS_EVALUATE_H_

#include <optional>
#include <span>
#include <vector>

#include "src/kernels/kernel.h"

namespace cgrun {

// Returns whether every tensor has a plain layout.
bool AllPlain(const KernelOption& option);

// Adds the options of a kernel for a node, with estimates of their time; none where the kernel does
// not support it.
void AddOptions(const KernelDef& kernel, const NodeSignature& node, const RunSetting& setting,
                std::vector<KernelOption>* options);

// Calls kernel.prepare(request). An elementwise kernel sees what lies in another layout as a plain
// vector of all its elements, with those that pad.
PreparedKernel PrepareKernel(const KernelDef& kernel, const KernelRequest& request);

// Runs a bound node once on host memory with the library's preferred kernel. If there is no kernel,
// or if it needs another layout than plain, returns nothing.
std::optional<std::vector<HostTensor>> EvaluateOnHost(const KernelLibrary& library,
                                                      const NodeSignature& node,
                                                      std::span<const HostTensor> inputs);

}  // namespace cgrun

#endif  // CGRUN_KERNELS_EVALUATE_H_
