// select: kernel, layout, workspace and threads for each node, asked of the target; Reorder nodes
// where layouts differ.
#ifndef CGRUN_SELECT_SELECT_H_
#define CGRUN_SELECT_SELECT_H_

#include "src/base/diagnostics.h"
#include "src/ir/graph.h"
#include "src/ops/target.h"
#include "src/select/state_layouts.h"

namespace cgrun {

struct SelectOptions {
  int threads = 1;
  StateLayouts state_layouts = {};
  bool any_state_layout = false;  // reorders of state cost nothing: which would kernels ask for?
};

// `graph` is bound. Every node gets its kernel: of the target's options the one whose estimated
// time, with the reorders that it would need, is least; the target's own order breaks ties. Layouts
// spread from kernel to kernel where that makes the whole graph take less time. Outputs and
// placeholders stay in plain layout, and so does state but for what the options say. A node that no
// kernel can run is an error at its mark.
Graph SelectKernels(const Graph& graph, const Target& target, const SelectOptions& options,
                    Diagnostics& diagnostics);

// The estimated time of a graph whose nodes have kernels.
double SecondsOfKernels(const Graph& graph);

// Gives kernels to the nodes that have none, and leaves the others as they are.
void SelectMissingKernels(Graph& graph, const Target& target, const SelectOptions& options,
                          Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_SELECT_SELECT_H_
