// Edits that several passes make.
#ifndef CGRUN_PASSES_REWRITE_H_
#define CGRUN_PASSES_REWRITE_H_

#include <optional>
#include <span>

#include "src/ir/graph.h"
#include "src/passes/pass.h"

namespace cgrun {

// Lists the readers of each value, as the graph is now.
struct GraphReaders {
  explicit GraphReaders(const Graph& graph);

  std::span<const NodeId> operator[](ValueId value) const { return nodes[value]; }
  // Nothing outside the graph's nodes reads the value.
  bool IsInternal(ValueId value) const { return !outside[value]; }
  // The node alone reads it.
  bool IsReadBy(ValueId value, NodeId alone) const {
    return IsInternal(value) && nodes[value].size() == 1 && nodes[value][0] == alone;
  }

  ReaderLists nodes;                // as Readers() gives them
  IdVector<ValueId, bool> outside;  // an output or an update reads the value
};

// Numbers the nodes anew, so that orders that follow the numbers run each node from `first` on in a
// better place. The node stands right behind the last node that makes one of its inputs, and those
// stand before it. If no node makes any input, it stands right before its first reader.
void MoveBehindInputs(Graph& graph, NodeId first);

// The fastest of the target's kernels for a node, at the context's batch and threads; nothing where
// it has no kernel.
std::optional<KernelOption> BestOption(const Graph& graph, const Node& node,
                                       const PassContext& context);

// Returns whether two nodes are of one phase and path, so that one node can be both.
inline bool OfOnePlace(const Node& a, const Node& b) {
  return a.phase == b.phase && a.path == b.path;
}

}  // namespace cgrun

#endif  // CGRUN_PASSES_REWRITE_H_
