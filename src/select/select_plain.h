// Selection as an eager framework does it: operator by operator, every tensor in plain layout
// between them.
#ifndef CGRUN_SELECT_SELECT_PLAIN_H_
#define CGRUN_SELECT_SELECT_PLAIN_H_

#include "src/select/select.h"

namespace cgrun {

// Gives each node of `graph`, which is bound, a kernel. All its values are plain and stay so. A
// node gets the option of the target with the least estimated time, including the reorders that it
// needs for itself alone. The target's own order breaks ties. Those reorders become nodes, and
// nothing else reads their results: a copy into a kernel's layout right before the node, and a copy
// out of it right after. A node that no kernel can run is an error at its mark.
Graph SelectPlainKernels(Graph graph, const Target& target, const SelectOptions& options,
                         Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_SELECT_SELECT_PLAIN_H_
