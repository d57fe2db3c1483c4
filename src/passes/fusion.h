// The rewriter of all fusions: a pass is a table of patterns. A pattern says which node stands in
// the place of several; the rewriter looks for it, puts the node there and removes what is left
// over.
#ifndef CGRUN_PASSES_FUSION_H_
#define CGRUN_PASSES_FUSION_H_

#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "src/ir/graph.h"
#include "src/passes/pass.h"
#include "src/passes/rewrite.h"

namespace cgrun {

// Nodes that stand in the place of others, and nodes that go. A value that none of them gives any
// more goes, too.
struct Fusion {
  std::vector<std::pair<NodeId, Node>> placed;
  std::vector<NodeId> gone;
};

// The graph while one pattern is looked for.
struct FusionView {
  const Graph& graph;
  const PassContext& context;
  GraphReaders readers;         // before the first fusion of this pattern
  IdVector<NodeId, int> place;  // of the nodes in a topological order
  IdVector<NodeId, bool> is_there;

  const Node& node(NodeId id) const { return graph.nodes[id]; }
  const TensorType& type(ValueId value) const { return graph.values[value].type; }
  NodeId producer(ValueId value) const { return graph.values[value].producer; }
  std::optional<KernelOption> Best(const Node& node) const;
  // Bytes of the value at the context's batch.
  int64_t BytesOf(ValueId value) const;
  // Returns whether `fused` is estimated to take less time than the nodes one by one. Nothing of
  // the kind is known where one of them has no kernel.
  bool IsFaster(const Node& fused, std::initializer_list<const Node*> apart) const;
};

struct FusionPattern {
  // The fusion that the node begins, or ends where the nodes are tried from the last to the first.
  std::optional<Fusion> (*match)(const FusionView&, NodeId);
  bool from_the_end = false;
};

// Looks for one pattern after the other, each over all nodes in a topological order. Returns false
// where none was found.
bool Fuse(Graph& graph, std::span<const FusionPattern> patterns, const PassContext& context);

// Adds what `node` does to the body of `fused`. Input i of the node is the operand `operands[i]`.
void AppendBody(Node& fused, const Node& node, std::span<const int> operands);

// A node with one result, those that read it, and for each of them the node that is the two: its
// inputs are the producer's, then the reader's others; its results are the reader's.
struct FusedPairs {
  const Node& producer;
  std::vector<const Node*> readers;
  std::vector<Node> fused;
};

// A rule that makes one node of a producer and the reader of its only result.
struct PairFusion {
  // Returns whether they may. The reader, which can be fused itself, has the result as its input
  // `input`.
  bool (*fits)(const Node& producer, const Node& reader, int input);
  bool (*pays)(const FusionView& view, const FusedPairs& pairs);
  // Says whether there may be several readers, each of which takes the producer with it.
  bool several = false;
};

std::optional<Fusion> MatchPairs(const FusionView& view, NodeId producer, const PairFusion& fusion);

// Makes a pattern of such pairs.
template <auto kFits, auto kPays, bool kSeveral = false>
constexpr FusionPattern Pairs() {
  return {[](const FusionView& view, NodeId producer) {
    return MatchPairs(view, producer, {kFits, kPays, kSeveral});
  }};
}

// Returns whether fused nodes are estimated to take less time than the nodes by themselves, and
// each less memory than its reader with the producer's result.
bool TakesLess(const FusionView& view, const FusedPairs& pairs);

}  // namespace cgrun

#endif  // CGRUN_PASSES_FUSION_H_
