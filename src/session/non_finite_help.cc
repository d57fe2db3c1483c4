// The operator in the graph that the model file makes, and the numbers that it takes.
#include "src/session/non_finite_help.h"

#include <string_view>
#include <vector>

#include "src/frontend/frontend.h"
#include "src/ir/op_def.h"

namespace cgrun {
namespace {

constexpr std::string_view kAnyOperator =
    "look at what it reads: data are best of a size of about 1, as `normalize` makes them";

// The node of that name, or that the gradient of that name belongs to: "classify.sqrt[0]" of
// "classify.sqrt[0].grad". The result is invalid where there is none.
NodeId FindNode(const Graph& graph, std::string_view name) {
  NodeId found;
  size_t longest = 0;
  for (const NodeId id : graph.nodes.ids()) {
    const std::string& node = graph.nodes[id].name;
    const bool begins =
        name.starts_with(node) && (name.size() == node.size() || name[node.size()] == '.');
    if (!begins || node.size() < longest) continue;
    found = id;
    longest = node.size();
  }
  return found;
}

// Returns whether what a node reads follows from something that training changes.
bool DependsOnState(const Graph& graph, NodeId node) {
  std::vector<NodeId> left = {node};
  IdVector<NodeId, bool> seen(graph.nodes.size());
  while (!left.empty()) {
    const NodeId next = left.back();
    left.pop_back();
    for (const ValueId input : graph.nodes[next].inputs) {
      const Value& value = graph.values[input];
      if (IsState(value.role)) return true;
      if (!value.producer.valid() || seen[value.producer]) continue;
      seen[value.producer] = true;
      left.push_back(value.producer);
    }
  }
  return false;
}

std::string_view HelpFor(OpId op, Phase phase) {
  const FiniteHelp& help = GetOpDef(op).finite_help;
  const std::string_view text = phase == Phase::kForward ? help.forward : help.backward;
  return text.empty() ? kAnyOperator : text;
}

}  // namespace

std::string NonFiniteHelp(const ModelSpec& model, DType precision, const NonFinite& found,
                          const std::string& of_rate) {
  if (found.what == NonFinite::What::kState) return "";
  if (found.phase != Phase::kForward && found.phase != Phase::kBackward) return of_rate;
  Diagnostics ignored;
  const auto graph = BuildForward(model, {EntryKind::kTrain, precision}, ignored);
  const NodeId node = graph ? FindNode(*graph, found.name) : NodeId();
  if (!node.valid()) return of_rate;
  const bool first = found.step <= 1;
  if (!first && (found.phase == Phase::kBackward || DependsOnState(*graph, node))) return of_rate;
  const Node& at = graph->nodes[node];
  return std::string(first ? "no parameter had changed by then" : "no parameter leads to it") +
         ", so that this is not for the learning rate to mend: " +
         std::string(HelpFor(at.op, found.phase));
}

}  // namespace cgrun
