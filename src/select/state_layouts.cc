// ChooseStateLayouts tries the layouts that kernels would ask for, and compares them with plain
// state.
#include "src/select/state_layouts.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "src/base/check.h"
#include "src/select/select.h"

namespace cgrun {
namespace {

constexpr double kLeastGain = 1e-6;  // more than sums of the same times differ by

bool IsSource(const Value& value) { return IsState(value.role) && !value.producer.valid(); }

// The value that reorders and casts have made this one of.
ValueId OriginOf(const Graph& graph, ValueId id) {
  for (NodeId producer = graph.values[id].producer; producer.valid();
       producer = graph.values[id].producer) {
    const OpId op = graph.nodes[producer].op;
    if (op != OpId::reorder && op != OpId::cast) break;
    id = graph.nodes[producer].inputs[0];
  }
  return id;
}

// A weight, the state that is updated beside it, and the nodes that read or update them.
struct Group {
  std::set<std::string> states;
  std::set<NodeId> nodes;
};

// Finds the nodes that make the new value of a state. It goes back from that value, through the
// nodes of the update and copies, to the nodes that make gradients.
class UpdateSearch {
 public:
  UpdateSearch(const Graph& graph, Group& group) : graph_(graph), group_(group) {}

  void Run(const UpdateEdge& edge) {
    shape_ = graph_.values[edge.state].type.shape;
    Visit(edge.next);
  }

 private:
  void Visit(ValueId id) {
    const Value& value = graph_.values[id];
    if (value.type.shape != shape_ || !seen_.insert(id).second) return;
    if (IsSource(value)) group_.states.insert(value.name);
    if (!value.producer.valid()) return;
    group_.nodes.insert(value.producer);
    const Node& producer = graph_.nodes[value.producer];
    const bool copies = producer.op == OpId::reorder || producer.op == OpId::cast;
    if (producer.phase != Phase::kUpdate && producer.op != OpId::accumulate && !copies) return;
    for (ValueId input : producer.inputs) Visit(input);
  }

  const Graph& graph_;
  Group& group_;
  Shape shape_;
  std::set<ValueId> seen_;
};

// Returns the groups of these weights, by the name of the weight.
std::map<std::string, Group> GroupsOf(const Graph& graph, const StateLayouts& weights) {
  std::map<std::string, Group> groups;
  for (const auto& [weight, layout] : weights) groups[weight].states.insert(weight);
  for (const UpdateEdge& edge : graph.updates) {
    const auto group = groups.find(graph.values[edge.state].name);
    if (group != groups.end()) UpdateSearch(graph, group->second).Run(edge);
  }
  for (const NodeId id : graph.nodes.ids()) {
    for (const ValueId input : graph.nodes[id].inputs) {
      const auto group = groups.find(graph.values[OriginOf(graph, input)].name);
      if (group != groups.end()) group->second.nodes.insert(id);
    }
  }
  return groups;
}

// The layout that most of the time for forward copies of each weight goes into; of equal ones the
// first by name.
StateLayouts WantedByForward(const Graph& selected) {
  std::map<std::string, std::map<std::string, double>> seconds;  // of a weight, by layout
  for (const Node& node : selected.nodes) {
    if (node.op != OpId::reorder || node.phase != Phase::kForward) continue;
    const Value& origin = selected.values[OriginOf(selected, node.inputs[0])];
    const Layout& layout = selected.values[node.outputs[0]].layout;
    if (!CanLieIn(selected, node.inputs[0], layout)) continue;
    seconds[origin.name][layout.ToString()] += node.kernel->seconds;
  }
  StateLayouts wanted;
  for (const auto& [weight, by_layout] : seconds) {
    const auto most =
        std::max_element(by_layout.begin(), by_layout.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    CGRUN_CHECK(Layout::Parse(most->first, &wanted[weight])) << most->first;
  }
  return wanted;
}

// The weights' layouts, and those of what is updated beside them.
StateLayouts WithGroups(const StateLayouts& weights, const std::map<std::string, Group>& groups) {
  StateLayouts layouts = weights;
  for (const auto& [weight, group] : groups) {
    for (const std::string& state : group.states) layouts.emplace(state, weights.at(weight));
  }
  return layouts;
}

double SecondsOf(const Graph& graph, const Group& group) {
  double seconds = 0;
  for (const NodeId id : group.nodes) seconds += graph.nodes[id].kernel->seconds;
  return seconds;
}

}  // namespace

bool CanLieIn(const Graph& graph, ValueId value, const Layout& layout) {
  const Value& origin = graph.values[OriginOf(graph, value)];
  const Shape& shape = origin.type.shape;
  return IsSource(origin) && PaddedElements(shape, layout) == shape.Elements();
}

StateLayouts ChooseStateLayouts(const Graph& graph, const Target& target,
                                const SelectOptions& options) {
  Diagnostics diagnostics;
  const auto select = [&](const StateLayouts& layouts, bool any) {
    return SelectKernels(graph, target, {options.threads, layouts, any}, diagnostics);
  };
  const Graph wished = select({}, true);
  if (diagnostics.has_errors()) return {};
  StateLayouts weights = WantedByForward(wished);
  if (weights.empty()) return {};

  const Graph plain = select({}, false);
  const std::map<std::string, Group> of_plain = GroupsOf(plain, weights);
  StateLayouts layouts = WithGroups(weights, of_plain);
  Graph laid = select(layouts, false);
  const std::map<std::string, Group> of_laid = GroupsOf(laid, weights);
  const size_t dropped = std::erase_if(weights, [&](const auto& weight) {
    const std::string& name = weight.first;
    const double least = (1 - kLeastGain) * SecondsOf(plain, of_plain.at(name));
    return SecondsOf(laid, of_laid.at(name)) > least;
  });
  if (dropped > 0) {
    layouts = WithGroups(weights, GroupsOf(plain, weights));
    laid = select(layouts, false);
  }
  return SecondsOfKernels(laid) < SecondsOfKernels(plain) ? layouts : StateLayouts();
}

}  // namespace cgrun
