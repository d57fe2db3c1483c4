// The look-up of what is to be kept.
#include "src/frontend/keep.h"

#include <algorithm>
#include <string>
#include <vector>

#include "src/frontend/near_names.h"
#include "src/ir/op_def.h"
#include "src/model/gradient_name.h"

namespace cgrun {
namespace {

// State that a step leaves for the next one: what operators read of it is gone after the step.
bool IsRecurrent(const Value& value) { return value.role == Role::kRecurrentState; }

// Finds the operators with this name in pictures and tables, or with this end of their name. They
// include those without a name of their own, "linear[0]". If a step runs a path several times, only
// the operators of its last run count.
std::vector<const Node*> FindOperators(const std::string& name, const Graph& graph) {
  std::vector<const Node*> found;
  for (const Node& node : graph.nodes) {
    const bool is_meant = node.name == name || node.name.ends_with("." + name);
    if (!is_meant || node.outputs.empty()) continue;
    const bool runs_again = node.path.valid() && graph.paths[node.path].repetition + 1 <
                                                     graph.paths[node.path].repetitions;
    if (!runs_again) found.push_back(&node);
  }
  return found;
}

// The name `fc1` means the result of the operator's `activation`, and so does "linear[0]".
ValueId ResultOf(const Node& node, const Graph& graph) {
  const ValueId result = node.outputs[0];
  for (const Node& other : graph.nodes) {
    const bool activates = GetOpDef(other.op).activation && other.name.starts_with(node.name + ".");
    if (activates && !other.inputs.empty() && other.inputs[0] == result) return other.outputs[0];
  }
  return result;
}

// Finds a value as operators read it. Else it finds the parameter of this name, or with this end of
// its name: `fc1.weight` or `fc1.w` for `classify.fc1.weight`. Else it finds the result of the
// operator that is shown by this name. The value is invalid after an error. If `maybe_failed`,
// there is no error: a missing value may be in a part that could not be built.
ValueId FindKept(const MarkedText& name, const Names& names, const Graph& graph, bool maybe_failed,
                 Diagnostics& diagnostics) {
  if (names.global().Find(name.value) || names.IsLeftOut(name.value)) {
    return names.Lookup(name, names.global(), diagnostics);
  }
  std::string wanted = name.value;
  if (wanted.ends_with(".w")) wanted += "eight";
  if (wanted.ends_with(".b")) wanted += "ias";
  std::vector<std::string> found, known;
  for (const Value& value : graph.values) {
    if (!IsState(value.role)) continue;
    known.push_back(value.name);
    if (value.name == wanted) return graph.FindValue(wanted);
    if (value.name.ends_with("." + wanted)) found.push_back(value.name);
  }
  if (found.size() == 1) return graph.FindValue(found[0]);
  if (found.size() > 1) {
    diagnostics.Error(name.mark, "several parameters are called '" + name.value + "'",
                      "write '" + found[0] + "' or '" + found[1] + "'");
    return ValueId();
  }
  const std::vector<const Node*> operators = FindOperators(name.value, graph);
  if (operators.size() == 1) return ResultOf(*operators[0], graph);
  if (operators.size() > 1) {
    diagnostics.Error(name.mark, "several operators are called '" + name.value + "'",
                      "write '" + operators[0]->name + "' or '" + operators[1]->name + "'");
    return ValueId();
  }
  if (maybe_failed) return ValueId();
  names.global().CollectNames(known);
  for (const Node& node : graph.nodes) known.push_back(node.name);
  std::ranges::sort(known);
  const auto twice = std::ranges::unique(known);
  known.erase(twice.begin(), twice.end());
  diagnostics.Error(name.mark, "there is no value or parameter '" + name.value + "' to keep",
                    HelpWithName(name.value, known, NamesWithPart(name.value, known)));
  return ValueId();
}

// Returns whether a step runs the path whose loss's gradient is meant, where one is named.
bool CheckPath(const GradientName& gradient, const MarkedText& item, const Graph& graph,
               Diagnostics& diagnostics) {
  std::vector<std::string> known;
  for (const Path& path : graph.paths) {
    if (path.repetition + 1 == path.repetitions) known.push_back(path.name);
  }
  const bool runs = std::ranges::find(known, gradient.path) != known.end();
  if (gradient.path.empty() || runs) return true;
  diagnostics.Error(item.mark, "no path '" + gradient.path + "' runs in a step",
                    SuggestName(gradient.path, known));
  return false;
}

// Makes the value that `item` names an output of the graph, of kind kKept, or notes it in `kept`
// where it is a gradient or a state.
void KeepValue(const MarkedText& item, const Names& names, bool maybe_failed, Graph& graph,
               Kept& kept, Diagnostics& diagnostics) {
  const std::optional<GradientName> gradient = ParseGradientName(item.value);
  const MarkedText name = gradient ? MarkedText{gradient->value, item.mark} : item;
  const ValueId value = FindKept(name, names, graph, maybe_failed, diagnostics);
  if (!value.valid() || (gradient && !CheckPath(*gradient, item, graph, diagnostics))) return;
  if (gradient) {
    kept.gradients.push_back({item.value, value, item.mark, gradient->path});
  } else if (IsState(graph.values[value].role) && !IsRecurrent(graph.values[value])) {
    kept.states.push_back({item.value, value, item.mark});
  } else {
    const NodeId producer = graph.values[value].producer;
    const PathId path = producer.valid() ? graph.nodes[producer].path : PathId();
    graph.outputs.push_back({value, OutputKind::kKept, item.value, path});
  }
}

}  // namespace

void KeepValues(const std::vector<MarkedText>& items, const Names& names, Graph& graph, Kept& kept,
                Diagnostics& diagnostics) {
  const bool maybe_failed = diagnostics.has_errors();
  for (const MarkedText& item : items) {
    KeepValue(item, names, maybe_failed, graph, kept, diagnostics);
  }
}

}  // namespace cgrun
