// Fusion of activations: an operator and the activation that alone reads it become one node where
// the target has a kernel for the two that beats its kernels one by one.
#include <algorithm>
#include <optional>

#include "src/ir/op_def.h"
#include "src/passes/pass.h"
#include "src/passes/rewrite.h"

namespace cgrun::passes {
namespace {

constexpr double kLeastGain = 0.01;  // finer than this the estimates are not

// The node whose result the activation alone reads, if the two can be one.
NodeId Producer(const Graph& graph, const IdVector<ValueId, std::vector<NodeId>>& readers,
                const Node& activation) {
  if (!GetOpDef(activation.op).activation || activation.inputs.size() != 1) return NodeId();
  const ValueId between = activation.inputs[0];
  const NodeId id = graph.values[between].producer;
  if (!id.valid() || readers[between].size() != 1 || !IsInternal(graph, between)) return NodeId();
  const Node& producer = graph.nodes[id];
  const OpDef& def = GetOpDef(producer.op);
  const bool simple = producer.outputs.size() == 1 && producer.op != OpId::fused && !def.view &&
                      !def.needs_step && !def.has_effect;
  const bool together = producer.phase == activation.phase && producer.path == activation.path;
  return simple && together ? id : NodeId();
}

Node Fused(const Node& producer, const Node& activation) {
  Node fused = activation;
  fused.op = OpId::fused;
  fused.attributes = Attributes();
  fused.inputs = producer.inputs;
  FusedOperator first{producer.op, producer.attributes, {}};
  for (size_t i = 0; i < producer.inputs.size(); ++i) {
    first.operands.push_back(static_cast<int>(i));
  }
  fused.body = {first, {activation.op, activation.attributes, {-1}}};
  return fused;
}

bool Pays(const Graph& graph, const Node& producer, const Node& activation, const Node& fused,
          const PassContext& context) {
  const auto together = BestSeconds(graph, fused, context);
  const auto first = BestSeconds(graph, producer, context);
  const auto second = BestSeconds(graph, activation, context);
  return together && (!first || !second || *together < (*first + *second) * (1 - kLeastGain));
}

}  // namespace

bool FuseActivations(Graph& graph, const PassContext& context) {
  const IdVector<ValueId, std::vector<NodeId>> readers = Readers(graph);
  IdVector<NodeId, bool> keep_node(graph.nodes.size(), true);
  IdVector<ValueId, bool> keep_value(graph.values.size(), true);
  bool changed = false;
  for (NodeId id : TopologicalOrder(graph)) {
    Node& activation = graph.nodes[id];
    const NodeId producer = Producer(graph, readers, activation);
    if (!producer.valid()) continue;
    Node fused = Fused(graph.nodes[producer], activation);
    if (!Pays(graph, graph.nodes[producer], activation, fused, context)) continue;
    keep_node[producer] = keep_value[activation.inputs[0]] = false;
    activation = std::move(fused);
    changed = true;
  }
  if (changed) Compact(graph, keep_node, keep_value);
  return changed;
}

}  // namespace cgrun::passes
