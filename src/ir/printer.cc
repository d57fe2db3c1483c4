// The listing of a graph: sources, then a line a node, then updates and outputs.
#include <fmt/format.h>

#include <ranges>
#include <string>

#include "src/ir/body_text.h"
#include "src/ir/graph.h"
#include "src/ir/op_def.h"

namespace cgrun {
namespace {

std::string ValueText(const Value& value) {
  std::string out = value.name + ": " + value.type.ToString();
  if (!value.layout.IsPlain()) out += " " + value.layout.ToString();
  return out;
}

std::string NodeText(const Graph& graph, const Node& node) {
  const auto name = [&](ValueId id) { return graph.values[id].name; };
  const auto text = [&](ValueId id) { return ValueText(graph.values[id]); };
  std::string out =
      fmt::format("  {} = {}({})", fmt::join(node.outputs | std::views::transform(text), ", "),
                  NameOf(node.op), fmt::join(node.inputs | std::views::transform(name), ", "));
  const std::string attributes = node.attributes.ToString();
  if (!attributes.empty()) out += " {" + attributes + "}";
  if (node.phase != Phase::kForward) out += " " + std::string(Name(node.phase));
  if (node.kernel) {
    out += " @" + node.kernel->kernel;
    if (node.kernel->workspace_bytes > 0) {
      out += " workspace=" + std::to_string(node.kernel->workspace_bytes);
    }
  }
  return out + "\n" + BodyText(node.body, "      ");
}

}  // namespace

std::string ToString(const Graph& graph) {
  std::string out = "graph " + graph.name + "\n";
  for (const Value& value : graph.values) {
    if (value.producer.valid()) continue;
    out += "  " + ValueText(value) + " (" + std::string(Name(value.role)) + ")\n";
  }
  for (NodeId id : TopologicalOrder(graph)) out += NodeText(graph, graph.nodes[id]);
  for (const UpdateEdge& edge : graph.updates) {
    out +=
        "  update " + graph.values[edge.state].name + " <- " + graph.values[edge.next].name + "\n";
  }
  for (const Output& output : graph.outputs) {
    out += "  output " + output.name + " = " + graph.values[output.value].name + "\n";
  }
  return out;
}

}  // namespace cgrun
