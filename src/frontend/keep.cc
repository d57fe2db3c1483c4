// The look-up of what is to be kept.
#include "src/frontend/keep.h"

#include <string>
#include <vector>

namespace cgrun {
namespace {

// A value as operators read it, or else the parameter whose name this is, or the end of it:
// `fc1.weight` or `fc1.w` for `classify.fc1.weight`. Invalid after an error.
ValueId FindKept(const MarkedText& name, const Names& names, const Graph& graph,
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
  names.global().CollectNames(known);
  if (!diagnostics.has_errors()) {  // what is not there may only have failed
    diagnostics.Error(name.mark, "there is no value or parameter '" + name.value + "' to keep",
                      SuggestName(name.value, known));
  }
  return ValueId();
}

}  // namespace

void KeepValue(const MarkedText& item, const Names& names, Graph& graph, Kept& kept,
               Diagnostics& diagnostics) {
  constexpr std::string_view kGradient = "grad(";
  const bool gradient = item.value.starts_with(kGradient) && item.value.ends_with(')');
  MarkedText name = item;
  if (gradient) {
    name.value = item.value.substr(kGradient.size());
    name.value.pop_back();
  }
  const ValueId value = FindKept(name, names, graph, diagnostics);
  if (!value.valid()) return;
  if (gradient) {
    kept.gradients.push_back({item.value, value, item.mark});
  } else if (IsState(graph.values[value].role)) {
    kept.states.push_back({item.value, value, item.mark});
  } else {
    const NodeId producer = graph.values[value].producer;
    const PathId path = producer.valid() ? graph.nodes[producer].path : PathId();
    graph.outputs.push_back({value, OutputKind::kKept, item.value, path});
  }
}

}  // namespace cgrun
