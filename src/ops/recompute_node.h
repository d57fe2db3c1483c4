// Finds what recomputes a node: the node that gives its output 0 a second time (OpDef::recompute),
// and its kernel.
#ifndef CGRUN_OPS_RECOMPUTE_NODE_H_
#define CGRUN_OPS_RECOMPUTE_NODE_H_

#include <optional>

#include "src/ir/graph.h"
#include "src/ir/op_def.h"
#include "src/ops/target.h"

namespace cgrun {

// Says which nodes can give their output 0 a second time: they have no effect, and change no state
// in doing so.
IdVector<NodeId, bool> RecomputableNodes(const Graph& graph);

// Returns the node that recomputes `node`. If its operator names no other one, it is the node
// itself.
RecomputeNode RecomputeNodeOf(const Node& node);

NodeSignature SignatureOfRecompute(const Graph& graph, const Node& node,
                                   const RecomputeNode& recompute);

// Returns the kernel of `second` that reads its inputs as they lie in the graph, and leaves its
// result in the layout of output 0 of `node`. If the target has none, returns nothing.
std::optional<KernelOption> OptionOfRecompute(const Graph& graph, const Node& node,
                                              const RecomputeNode& recompute, const Target& target,
                                              int threads);

}  // namespace cgrun

#endif  // CGRUN_OPS_RECOMPUTE_NODE_H_
