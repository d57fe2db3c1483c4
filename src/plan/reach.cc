// One pass in topological order.
#include "src/plan/reach.h"

#include <fmt/format.h>

#include <algorithm>

namespace cgrun {
namespace {

bool IsPersistent(const Value& value) {
  return IsState(value.role) || value.role == Role::kConstant;
}

}  // namespace

ReachSet FeedBit(size_t feed) {
  return ReachSet{1} << std::min(feed, static_cast<size_t>(kReachBits - 1));
}

ReachSet Join(ReachSet a, ReachSet b) { return ((a | b) & kEveryRun) != 0 ? kEveryRun : a | b; }

std::string ToString(ReachSet reach, const std::vector<std::string>& feeds) {
  if ((reach & kEveryRun) != 0) return "every run";
  std::vector<std::string> names;
  for (size_t i = 0; i < feeds.size(); ++i) {
    if ((reach & FeedBit(i)) != 0) names.push_back(feeds[i]);
  }
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

Reach ComputeReach(const Graph& graph) {
  Reach reach;
  reach.values.resize(graph.values.size());
  reach.nodes.resize(graph.nodes.size());
  size_t feeds = 0;
  for (ValueId id : graph.values.ids()) {
    if (graph.values[id].role == Role::kPlaceholder) reach.values[id] = FeedBit(feeds++);
  }
  for (const UpdateEdge& edge : graph.updates) reach.values[edge.state] = kEveryRun;
  for (NodeId id : TopologicalOrder(graph)) {
    const Node& node = graph.nodes[id];
    ReachSet& of_node = reach.nodes[id];
    if (node.op == OpId::all_reduce) of_node = kEveryRun;
    for (ValueId input : node.inputs) {
      of_node = Join(of_node, reach.values[input]);
      reach.all |= reach.values[input];
    }
    for (ValueId output : node.outputs) reach.values[output] = of_node;
    reach.all |= of_node;
  }
  for (const Output& output : graph.outputs) reach.all |= reach.values[output.value];
  return reach;
}

IdVector<ValueId, bool> KeptBetweenRuns(const Graph& graph, const Reach& reach) {
  IdVector<ValueId, bool> kept(graph.values.size());
  for (NodeId id : graph.nodes.ids()) {
    for (ValueId input : graph.nodes[id].inputs) {
      if (IsPersistent(graph.values[input])) continue;
      if (reach.values[input] != reach.nodes[id]) kept[input] = true;
    }
  }
  for (const Output& output : graph.outputs) {
    if (IsPersistent(graph.values[output.value])) continue;
    const ReachSet of_output = reach.values[output.value];
    if (of_output != kEveryRun && of_output != reach.all) kept[output.value] = true;
  }
  for (ValueId id : graph.values.ids()) {  // made anew in every run
    if (reach.values[id] == kEveryRun) kept[id] = false;
  }
  return kept;
}

}  // namespace cgrun
