// Dead code: nodes whose results nothing reads, and sources that nothing uses.
#include <algorithm>

#include "src/ir/op_def.h"
#include "src/passes/pass.h"

namespace cgrun::passes {
namespace {

class Liveness {
 public:
  explicit Liveness(const Graph& graph)
      : graph_(graph), nodes(graph.nodes.size()), values(graph.values.size()) {
    for (const Output& output : graph.outputs) Need(output.value);
    for (const UpdateEdge& edge : graph.updates) {
      Need(edge.state);
      Need(edge.next);
    }
    for (NodeId id : graph.nodes.ids()) {
      if (GetOpDef(graph.nodes[id].op).has_effect) NeedNode(id);
    }
    while (!pending_.empty()) {
      const ValueId value = pending_.back();
      pending_.pop_back();
      if (graph_.values[value].producer.valid()) NeedNode(graph_.values[value].producer);
    }
  }

 private:
  void Need(ValueId value) {
    if (values[value]) return;
    values[value] = true;
    pending_.push_back(value);
  }

  void NeedNode(NodeId id) {
    if (nodes[id]) return;
    nodes[id] = true;
    for (ValueId input : graph_.nodes[id].inputs) Need(input);
    for (ValueId output : graph_.nodes[id].outputs) Need(output);
  }

  const Graph& graph_;
  std::vector<ValueId> pending_;

 public:
  IdVector<NodeId, bool> nodes;
  IdVector<ValueId, bool> values;
};

}  // namespace

bool EliminateDeadCode(Graph& graph, const PassContext&) {
  const Liveness live(graph);
  const auto all = [](const auto& flags) {
    return std::all_of(flags.begin(), flags.end(), [](bool flag) { return flag; });
  };
  if (all(live.nodes) && all(live.values)) return false;
  Compact(graph, live.nodes, live.values);
  return true;
}

}  // namespace cgrun::passes
