// The memory that eager mode will take, told without running it.
#ifndef CGRUN_EAGER_PEAK_H_
#define CGRUN_EAGER_PEAK_H_

#include <cstdint>
#include <span>

#include "src/ir/graph.h"

namespace cgrun {

// The most bytes in tensors and workspaces at once, each rounded up to `alignment`, whichever of
// these entry points run: what EagerProgram counts as its live peak once each has run. The graphs
// are bound and have kernels; they share states by name.
int64_t EagerPeakBytes(std::span<const Graph* const> entries, int64_t alignment = 64);

}  // namespace cgrun

#endif  // CGRUN_EAGER_PEAK_H_
