// LayoutsOfState: from the reorders that read state, and from what updates it.
#include "src/select/state_layouts.h"

#include <vector>

namespace cgrun {
namespace {

bool IsPlainState(const Value& value) {
  return IsState(value.role) && !value.producer.valid() && value.layout.IsPlain();
}

bool Pads(const Value& value) {
  return PaddedElements(value.type.shape, value.layout) != value.type.shape.Elements();
}

// State of its shape that the update of a state reads, directly or by operators of the update.
class UpdateSearch {
 public:
  explicit UpdateSearch(const Graph& graph) : graph_(graph), seen_(graph.values.size()) {}

  std::vector<ValueId> From(const UpdateEdge& edge) {
    shape_ = graph_.values[edge.state].type.shape;
    Visit(edge.next);
    return std::move(found_);
  }

 private:
  void Visit(ValueId id) {
    const Value& value = graph_.values[id];
    if (seen_[id] || value.type.shape != shape_) return;
    seen_[id] = true;
    if (IsPlainState(value)) found_.push_back(id);
    if (!value.producer.valid()) return;
    const Node& producer = graph_.nodes[value.producer];
    if (producer.phase != Phase::kUpdate) return;
    for (ValueId input : producer.inputs) Visit(input);
  }

  const Graph& graph_;
  Shape shape_;
  IdVector<ValueId, bool> seen_;
  std::vector<ValueId> found_;
};

}  // namespace

StateLayouts LayoutsOfState(const Graph& selected) {
  StateLayouts layouts;
  for (const Node& node : selected.nodes) {  // the first one counts: forward, where there is one
    if (node.op != OpId::reorder || node.phase != Phase::kForward) continue;
    const Value& state = selected.values[node.inputs[0]];
    const Value& copy = selected.values[node.outputs[0]];
    if (IsPlainState(state) && !Pads(copy)) layouts.emplace(state.name, copy.layout);
  }
  const StateLayouts read = layouts;
  for (const UpdateEdge& edge : selected.updates) {
    const auto of_weight = read.find(selected.values[edge.state].name);
    if (of_weight == read.end()) continue;
    for (ValueId beside : UpdateSearch(selected).From(edge)) {
      layouts.emplace(selected.values[beside].name, of_weight->second);
    }
  }
  return layouts;
}

}  // namespace cgrun
