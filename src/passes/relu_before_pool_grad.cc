// Puts the gradient of relu before that of the max_pool behind it. It then works on the pooled
// elements, which are fewer, and which later operators keep anyway. The result of relu need not be
// kept then.
//
//   dx = relu_grad(y, max_pool_grad(index, d))  →  dx = max_pool_grad(index, relu_grad(pooled, d))
//
// No bit changes: a window gives its gradient to the element that won it, where pooled = y.
#include <algorithm>
#include <optional>
#include <utility>

#include "src/ir/builder.h"
#include "src/passes/pass.h"
#include "src/passes/rewrite.h"

namespace cgrun::passes {
namespace {

// Holds the two gradients as they stand in the graph, and the larger result of the pool.
struct Match {
  NodeId pool_grad;
  NodeId relu_grad;
  ValueId pooled;
};

const Node* ProducerOf(const Graph& graph, ValueId value, OpId op) {
  const NodeId id = graph.values[value].producer;
  return id.valid() && graph.nodes[id].op == op ? &graph.nodes[id] : nullptr;
}

// Returns whether nothing but `reader` keeps the value for the backward pass.
bool KeptForAlone(const Graph& graph, const GraphReaders& readers, ValueId value, NodeId reader) {
  return std::all_of(readers[value].begin(), readers[value].end(), [&](NodeId id) {
    return id == reader || graph.nodes[id].phase == Phase::kForward;
  });
}

std::optional<Match> Find(const Graph& graph, const GraphReaders& readers, NodeId id) {
  const Node& relu_grad = graph.nodes[id];
  if (relu_grad.op != OpId::relu_grad) return std::nullopt;
  const ValueId y = relu_grad.inputs[0], between = relu_grad.inputs[1];
  const Node* pool_grad = ProducerOf(graph, between, OpId::max_pool_grad);
  if (pool_grad == nullptr || !readers.IsReadBy(between, id)) {
    return std::nullopt;
  }
  const Node* pool = ProducerOf(graph, pool_grad->inputs[0], OpId::max_pool);
  if (pool == nullptr || pool->inputs[0] != y || !KeptForAlone(graph, readers, y, id)) {
    return std::nullopt;
  }
  return Match{graph.values[between].producer, id, pool->outputs[0]};
}

// The nodes change roles: each keeps its place and its results, and the value between them shrinks.
void Swap(Graph& graph, Builder& names, const Match& match) {
  Node &first = graph.nodes[match.pool_grad], &second = graph.nodes[match.relu_grad];
  Value& between = graph.values[first.outputs[0]];
  const ValueId index = first.inputs[0];
  std::swap(first.op, second.op);
  std::swap(first.attributes, second.attributes);
  std::swap(first.mark, second.mark);
  first.inputs[0] = match.pooled;
  second.inputs = {index, first.outputs[0]};
  const Value& pooled = graph.values[match.pooled];
  between.type = pooled.type;
  between.mark = first.mark;
  between.name = first.name = names.UniqueName(pooled.name + ".relu.grad");
}

}  // namespace

bool ReluBeforePoolGrad(Graph& graph, const PassContext&) {
  const bool has_pool = std::ranges::any_of(
      graph.nodes, [](const Node& node) { return node.op == OpId::max_pool_grad; });
  if (!has_pool) return false;
  const GraphReaders readers(graph);
  Builder names(graph);
  bool changed = false;
  for (NodeId id : graph.nodes.ids()) {
    const std::optional<Match> match = Find(graph, readers, id);
    if (!match) continue;
    Swap(graph, names, *match);
    changed = true;
  }
  return changed;
}

}  // namespace cgrun::passes
