// Finds by their parameters which operators a fused node was made of: it keeps the name of the last
// one alone.
#include "src/report/fused_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <string_view>
#include <vector>

#include "src/ir/signature.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

// "conv1" of "classify.conv1"
std::string LastPart(const std::string& name) { return name.substr(name.rfind('.') + 1); }

// "classify" of "classify.conv1"; "" where there is no dot.
std::string ScopeOf(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

// The value that this one is in another layout or number type.
const Value& Origin(const Graph& graph, ValueId id) {
  while (graph.values[id].producer.valid()) {
    const Node& node = graph.nodes[graph.values[id].producer];
    if (node.op != OpId::reorder && node.op != OpId::cast) break;
    id = node.inputs[0];
  }
  return graph.values[id];
}

// The name within its scope of an operator that has parameters; else "".
std::string LayerOf(const Graph& graph, const Node& node, const FusedOperator& inner) {
  for (const int operand : inner.operands) {
    if (operand < 0) continue;  // a result of the node's body
    const std::string owner = OwnerOf(graph, node.inputs[static_cast<size_t>(operand)]);
    if (!owner.empty()) return LastPart(owner);
  }
  return "";
}

// Returns whether a name is no numbered one, as those get that the model file does not name.
bool IsGiven(const std::string& name, std::string_view op) {
  return name != op && !name.starts_with(std::string(op) + "[");
}

}  // namespace

std::string OperatorText(const Node& node) {
  if (node.op != OpId::fused) return std::string(NameOf(node.op));
  const auto name = [](const FusedOperator& inner) { return NameOf(inner.op); };
  return fmt::format("{}", fmt::join(node.body | std::views::transform(name), " + "));
}

std::string OwnerOf(const Graph& graph, ValueId value) {
  const Value& origin = Origin(graph, value);
  return origin.role == Role::kParameter ? ScopeOf(origin.name) : "";
}

std::string BoxName(const Graph& graph, const Node& node) {
  const bool is_joined = node.op == OpId::fused && node.phase == Phase::kForward;
  if (!is_joined || node.recomputes.valid()) return node.name;
  const std::string own = LastPart(node.name);
  std::vector<std::string> layers, names;
  for (size_t i = 0; i < node.body.size(); ++i) {
    const std::string op(NameOf(node.body[i].op));
    std::string name = LayerOf(graph, node, node.body[i]);
    if (!name.empty()) layers.push_back(name);
    if (name.empty()) name = i + 1 == node.body.size() && IsGiven(own, op) ? own : op;
    names.push_back(name);
  }
  if (layers.empty()) return node.name;
  std::string scope = ScopeOf(node.name);
  // The `activation` of an operator is called "classify.conv1.relu".
  if (std::ranges::count(layers, LastPart(scope)) > 0) scope = ScopeOf(scope);
  if (!scope.empty()) scope += '.';
  return fmt::format("{}{}", scope, fmt::join(names, " + "));
}

std::vector<FusedNode> FusedNodesOf(const Graph& graph) {
  std::vector<FusedNode> nodes;
  for (const NodeId id : TopologicalOrder(graph)) {
    const Node& node = graph.nodes[id];
    if (node.op != OpId::fused) continue;
    nodes.push_back({node.name, BoxName(graph, node), OperatorText(node)});
  }
  return nodes;
}

std::string FusedNodesText(const std::string& entry, const std::vector<FusedNode>& nodes,
                           size_t most) {
  if (nodes.empty()) return "";
  const size_t shown = most == 0 ? nodes.size() : std::min(most, nodes.size());
  TextTable table({Align::kLeft, Align::kLeft});
  table.Add({"fused in '" + entry + "'", "made of"});
  table.AddRule();
  for (size_t i = 0; i < shown; ++i) {
    const bool has_names = nodes[i].name != nodes[i].node;
    table.Add({nodes[i].node, has_names ? nodes[i].name : nodes[i].operators});
  }
  const auto others = static_cast<int64_t>(nodes.size() - shown);
  return table.ToString("  ") +
         (others > 0 ? "  " + FormatCount(others) + " more; --full lists all.\n" : "");
}

}  // namespace cgrun
