// Selection as an eager framework does it: operator by operator, every tensor in plain layout
// between them.
#ifndef CGRUN_SELECT_SELECT_PLAIN_H_
#define CGRUN_SELECT_SELECT_PLAIN_H_

#include "src/select/select.h"

namespace cgrun {

// `graph` is bound, and all its values are plain; they stay so. Every node gets the option of the
// target whose estimated time, with the reorders that it would need for itself alone, is least;
// the target's own order breaks ties. Those reorders are nodes around it, and nothing else reads
// what they write: a copy into a kernel's layout right before it, a copy out of it right after.
// A node that no kernel can run is an error at its mark.
Graph SelectPlainKernels(Graph graph, const Target& target, const SelectOptions& options,
                         Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_SELECT_SELECT_PLAIN_H_
