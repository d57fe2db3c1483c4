// Finds second results: the node that gives output 0 of a node again (OpDef::second), and its
// kernel.
#ifndef CGRUN_OPS_SECOND_H_
#define CGRUN_OPS_SECOND_H_

#include <optional>

#include "src/ir/graph.h"
#include "src/ir/op_def.h"
#include "src/ops/target.h"

namespace cgrun {

// Says which nodes can give their output 0 again: they have no effect, and change no state in doing
// so.
IdVector<NodeId, bool> NodesThatRunAgain(const Graph& graph);

// Returns the node that runs again. If its operator names no other one, it is the node itself.
SecondNode SecondOf(const Node& node);

NodeSignature SignatureOfSecond(const Graph& graph, const Node& node, const SecondNode& second);

// Returns the kernel of `second` that reads its inputs as they lie in the graph, and leaves its
// result in the layout of output 0 of `node`. If the target has none, returns nothing.
std::optional<KernelOption> OptionOfSecond(const Graph& graph, const Node& node,
                                           const SecondNode& second, const Target& target,
                                           int threads);

}  // namespace cgrun

#endif  // CGRUN_OPS_SECOND_H_
