// Both ways of selection share this: they need copies between layouts, and say that there is no
// kernel.
#ifndef CGRUN_SELECT_REORDER_NODE_H_
#define CGRUN_SELECT_REORDER_NODE_H_

#include "src/base/diagnostics.h"
#include "src/ir/graph.h"
#include "src/ops/target.h"

namespace cgrun {

// Returns the signature of a copy of a tensor from one layout into another.
NodeSignature ReorderSignature(const TensorType& type, const Layout& from, const Layout& to);

// The estimated time of such a copy; very long where the target has no kernel for it.
double ReorderSeconds(const NodeSignature& reorder, const Target& target, int threads);

KernelChoice ChoiceOf(const KernelOption& option, int threads);

// The error for a node that no kernel of the target can run.
void ReportNoKernel(const Node& node, const NodeSignature& signature, const Target& target,
                    Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_SELECT_REORDER_NODE_H_
