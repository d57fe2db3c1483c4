// Rematerialisation: applies a RematPlan. Late readers of a value read a second one, which is
// computed for them alone; the schedule then runs its nodes right before them.
#include <algorithm>
#include <map>

#include "src/base/check.h"
#include "src/ir/builder.h"
#include "src/ops/recompute_node.h"
#include "src/passes/pass.h"

namespace cgrun::passes {
namespace {

// The kernel that leaves the second result in the layout of the first.
KernelChoice ChooseKernel(const Graph& graph, const Node& original, const RecomputeNode& second,
                          const PassContext& context) {
  if (second.op == original.op) return *original.kernel;
  const auto option = OptionOfRecompute(graph, original, second, context.target, context.threads);
  CGRUN_CHECK(option.has_value()) << "no kernel gives " << original.name << " again";
  return {option->kernel,      context.threads, option->workspace_bytes, option->in_place,
          option->sub_buffers, option->seconds, option->is_measured};
}

class Copier {
 public:
  Copier(Graph& graph, const PassContext& context)
      : graph_(graph), builder_(graph), context_(context) {}

  void Apply(const RecomputeDecision& decision) {
    CGRUN_CHECK(!decision.nodes.empty() && !decision.readers.empty())
        << "nothing is computed again, or for nobody";
    if (!IsRead(decision)) return;
    seconds_.clear();
    const Phase phase = graph_.nodes[decision.readers[0]].phase;
    for (NodeId id : decision.nodes) CopyNode(id, phase);
    for (NodeId reader : decision.readers) Redirect(graph_.nodes[reader].inputs);
  }

 private:
  // If two decisions recompute one node for different results of it, the first decision gives both.
  bool IsRead(const RecomputeDecision& decision) const {
    return std::ranges::any_of(decision.readers, [&](NodeId reader) {
      return std::ranges::any_of(graph_.nodes[reader].inputs, [&](ValueId input) {
        return std::ranges::find(decision.nodes, graph_.values[input].producer) !=
               decision.nodes.end();
      });
    });
  }

  void CopyNode(NodeId id, Phase phase) {
    const Node original = graph_.nodes[id];
    RecomputeNode second = RecomputeNodeOf(original);
    Redirect(second.inputs);
    Node copy = original;
    if (original.kernel) copy.kernel = ChooseKernel(graph_, original, second, context_);
    copy.op = second.op;
    copy.attributes = std::move(second.attributes);
    copy.inputs = std::move(second.inputs);
    if (copy.op != original.op) copy.outputs.resize(1);
    copy.phase = phase;
    copy.name = builder_.UniqueName(original.name + ".again");
    copy.recomputes = id;
    const NodeId copy_id(static_cast<int>(graph_.nodes.size()));
    for (ValueId& output : copy.outputs) {
      Value result = graph_.values[output];
      result.producer = copy_id;
      result.name = output == original.outputs[0]
                        ? copy.name
                        : builder_.UniqueName(graph_.values[output].name + ".again");
      const ValueId second_id = graph_.values.push_back(std::move(result));
      seconds_[output] = second_id;
      output = second_id;
    }
    graph_.nodes.push_back(std::move(copy));
  }

  // Makes readers use the second value, if there is one.
  void Redirect(std::vector<ValueId>& inputs) const {
    for (ValueId& input : inputs) {
      if (const auto it = seconds_.find(input); it != seconds_.end()) input = it->second;
    }
  }

  Graph& graph_;
  Builder builder_;
  const PassContext& context_;
  std::map<ValueId, ValueId> seconds_;
};

}  // namespace

bool Rematerialise(Graph& graph, const PassContext& context) {
  if (context.remat == nullptr || context.remat->recompute.empty()) return false;
  Copier copier(graph, context);
  for (const RecomputeDecision& decision : context.remat->recompute) copier.Apply(decision);
  return true;
}

}  // namespace cgrun::passes
