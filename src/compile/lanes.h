// Lanes: small nodes side by side, the last choice of a compile.
#ifndef CGRUN_COMPILE_LANES_H_
#define CGRUN_COMPILE_LANES_H_

#include <vector>

#include "src/compile/compile.h"

namespace cgrun {

// Gives the entry points, which are planned as `layout`, schedules with lanes (side_by_side.h)
// where that saves time and takes no larger arena, and plans them anew. Nodes in lanes have kernels
// for one thread then, which give the same bits. `ran` is told of it.
MemoryLayout UseLanes(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                      const Target& target, const CompileOptions& options,
                      std::vector<PassReport>& ran);

}  // namespace cgrun

#endif  // CGRUN_COMPILE_LANES_H_
