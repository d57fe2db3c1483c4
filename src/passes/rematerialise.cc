// Rematerialisation: applies a RematPlan. The late readers of a value read a second copy, computed
// by a clone of its producer; the schedule then runs the clone beside them.
#include <algorithm>

#include "src/base/check.h"
#include "src/ir/builder.h"
#include "src/passes/pass.h"

namespace cgrun::passes {
namespace {

// The clone's result that stands for `value`.
ValueId CloneProducer(Builder& builder, ValueId value, const Node& reader) {
  const Graph& graph = builder.graph();
  const NodeId producer = graph.values[value].producer;
  CGRUN_CHECK(producer.valid()) << graph.values[value].name << " has no producer to run again";
  const Node original = graph.nodes[producer];
  Builder::NodeOptions options;
  options.phase = reader.phase;
  options.path = original.path;
  options.mark = original.mark;
  options.output_role = graph.values[value].role;
  options.output_zone = graph.values[value].zone;
  const std::vector<ValueId> outputs = builder.AddNode(
      original.op, original.attributes, original.inputs, original.name + ".again", options);
  Graph& changed = builder.graph();
  Node& clone = changed.nodes[changed.values[outputs[0]].producer];
  clone.recomputes = true;
  clone.kernel = original.kernel;
  clone.body = original.body;
  for (size_t i = 0; i < outputs.size(); ++i) {
    changed.values[outputs[i]].layout = changed.values[original.outputs[i]].layout;
  }
  return outputs[static_cast<size_t>(graph.values[value].output_index)];
}

}  // namespace

bool Rematerialise(Graph& graph, const PassContext& context) {
  if (context.remat == nullptr || context.remat->recompute.empty()) return false;
  Builder builder(graph);
  for (const RecomputeDecision& decision : context.remat->recompute) {
    CGRUN_CHECK(!decision.readers.empty()) << "a value is computed again for nobody";
    const Node first_reader = graph.nodes[decision.readers[0]];
    const ValueId again = CloneProducer(builder, decision.value, first_reader);
    for (NodeId reader : decision.readers) {
      std::vector<ValueId>& inputs = graph.nodes[reader].inputs;
      std::replace(inputs.begin(), inputs.end(), decision.value, again);
    }
  }
  return true;
}

}  // namespace cgrun::passes
