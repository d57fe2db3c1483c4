// Our own kernels among those of device `blas`. CGRUN_TEST_TARGET names an instruction set other
// than the best.
#ifndef CGRUN_TESTS_KERNELS_OWN_KERNELS_H_
#define CGRUN_TESTS_KERNELS_OWN_KERNELS_H_

#include <optional>
#include <string>
#include <vector>

#include "src/kernels/kernel.h"

namespace cgrun {

// CGRUN_TEST_TARGET; "": the best.
const std::string& TestTarget();

// The kernel of our own for a node whose inputs come in these layouts (none: plain), or nothing.
std::optional<KernelOption> OwnOption(const KernelLibrary& library, const NodeSignature& node,
                                      int threads, const std::vector<Layout>& layouts = {});

// Returns the results of cgrun's own kernel for `inputs`. Fails a check if there is none, or if it
// writes outside its results.
std::vector<HostTensor> OwnOutputs(const NodeSignature& node, const std::vector<HostTensor>& inputs,
                                   int threads = 2);
// Returns the same by one thread with the bits of a thread team.
std::vector<HostTensor> OwnOutputsAlone(const NodeSignature& node,
                                        const std::vector<HostTensor>& inputs, int thread_team);

}  // namespace cgrun

#endif  // CGRUN_TESTS_KERNELS_OWN_KERNELS_H_
