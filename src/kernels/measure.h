// Measures how long a kernel takes here.
#ifndef CGRUN_KERNELS_MEASURE_H_
#define CGRUN_KERNELS_MEASURE_H_

#include <optional>

#include "src/kernels/kernel.h"

namespace cgrun {

// Returns the least time of a few runs of a kernel of the host, in seconds, on numbers of no
// meaning in memory of its own. If there is not enough memory, returns nothing.
std::optional<double> MeasureOnHost(const KernelLibrary& library, const NodeSignature& node,
                                    const KernelOption& option, int threads);

}  // namespace cgrun

#endif  // CGRUN_KERNELS_MEASURE_H_
