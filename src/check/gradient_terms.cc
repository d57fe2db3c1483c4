// Walks from a gradient back over nodes that only move or add up numbers, to the sums that it is
// made of.
#include "src/check/gradient_terms.h"

#include <iterator>
#include <vector>

#include "src/ir/builder.h"
#include "src/ir/op_def.h"

namespace cgrun {
namespace {

constexpr char kPrefix[] = ".terms ";
constexpr int64_t kMostNodes = 10'000;  // of a gradient: one a step of a recurrent network

// The nodes that sum up what `value` is; none where something else is a part of it.
std::vector<NodeId> SumsOf(const Graph& graph, ValueId value) {
  std::vector<NodeId> sums;
  std::vector<ValueId> open = {value};
  for (int64_t count = 0; !open.empty(); ++count) {
    const NodeId id = graph.values[open.back()].producer;
    open.pop_back();
    if (!id.valid() || count == kMostNodes) return {};
    const Node& node = graph.nodes[id];
    if (node.op == OpId::reduce_sum) {
      sums.push_back(id);
    } else if (node.op == OpId::add) {
      open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    } else if (GetOpDef(node.op).moves == Moves::kInOrder) {
      open.push_back(node.inputs[0]);
    } else {
      return {};
    }
  }
  return sums;
}

}  // namespace

std::string TermsName(const std::string& gradient) { return kPrefix + gradient; }

std::string GradientOfTerms(const std::string& name) {
  return name.starts_with(kPrefix) ? name.substr(std::size(kPrefix) - 1) : "";
}

void KeepTermSizes(Graph& graph) {
  const std::vector<Output> outputs = graph.outputs;
  Builder builder(graph);
  for (const Output& output : outputs) {
    if (output.kind != OutputKind::kKept) continue;
    const std::string name = TermsName(output.name);
    for (const NodeId id : SumsOf(graph, output.value)) {
      const Attributes axes = graph.nodes[id].attributes;  // adding nodes moves them
      const ValueId terms = graph.nodes[id].inputs[0];
      const Builder::NodeOptions options = {.phase = Phase::kBackward,
                                            .path = output.path,
                                            .mark = {},
                                            .output_zone = Zone::kGradient};
      const ValueId sizes =
          builder.AddNode(OpId::abs, Attributes(), {terms}, name + ".abs", options)[0];
      const ValueId sum = builder.AddNode(OpId::reduce_sum, axes, {sizes}, name, options)[0];
      graph.outputs.push_back({sum, OutputKind::kKept, name, output.path});
    }
  }
}

}  // namespace cgrun
