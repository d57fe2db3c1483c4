// Runs one node on a GPU with its tensors on the host.
#ifndef CGRUN_KERNELS_CUDA_EVALUATE_H_
#define CGRUN_KERNELS_CUDA_EVALUATE_H_

#include <optional>
#include <span>
#include <vector>

#include "src/kernels/kernel.h"

namespace cgrun::cuda {

// Returns the outputs of a bound node by the library's preferred kernel. There is none if the
// library has no kernel, if it needs another layout than plain, or if this machine has no GPU.
// Throws UserError if there is a GPU and it fails.
std::optional<std::vector<HostTensor>> EvaluateOnGpu(const KernelLibrary& library,
                                                     const NodeSignature& node,
                                                     std::span<const HostTensor> inputs);

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_EVALUATE_H_
