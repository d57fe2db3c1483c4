// Edits that several passes make.
#ifndef CGRUN_PASSES_REWRITE_H_
#define CGRUN_PASSES_REWRITE_H_

#include <optional>

#include "src/ir/graph.h"
#include "src/passes/pass.h"

namespace cgrun {

// Everything that reads `from` (nodes, outputs, updates, losses) reads `to` instead. Both have one
// type.
void ReplaceUses(Graph& graph, ValueId from, ValueId to);

// Nothing outside the graph's nodes reads the value.
bool IsInternal(const Graph& graph, ValueId value);

// The fastest of the target's kernels for a node, at the context's batch and threads; nothing where
// it has no kernel.
std::optional<KernelOption> BestOption(const Graph& graph, const Node& node,
                                       const PassContext& context);
// What that takes.
std::optional<double> BestSeconds(const Graph& graph, const Node& node, const PassContext& context);

// Which nodes become one with the node that alone reads their only result.
struct PairFusion {
  // Which input of `reader` comes from a node that may become one with it; −1: none.
  int (*input)(const Node& reader);
  bool (*fits)(const Node& producer, const Node& reader);
  Node (*fused)(const Node& producer, const Node& reader);
  bool (*pays)(const Graph& graph, const Node& producer, const Node& reader, const Node& fused,
               const PassContext& context);
};

// Puts a fused node in the place of each such pair. False where there was none.
bool FusePairs(Graph& graph, const PairFusion& fusion, const PassContext& context);

}  // namespace cgrun

#endif  // CGRUN_PASSES_REWRITE_H_
