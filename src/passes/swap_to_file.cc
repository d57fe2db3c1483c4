// Swapping: applies the swap decisions of a RematPlan. Late readers of a value read what comes back
// from the file; that the four nodes depend on each other is in the graph, by a token, so that any
// order of it is right.
#include <algorithm>
#include <string>

#include "src/base/check.h"
#include "src/ir/builder.h"
#include "src/ops/swap.h"
#include "src/passes/pass.h"

namespace cgrun::passes {
namespace {

class Swapper {
 public:
  Swapper(Graph& graph, const PassContext& context)
      : graph_(graph), builder_(graph), context_(context) {}

  void Apply(const SwapDecision& decision) {
    const Value value = graph_.values[decision.value];
    const NodeId producer = value.producer;
    CGRUN_CHECK(!decision.readers.empty()) << value.name << " comes back for nobody";
    options_.output_zone = value.zone;
    options_.mark = value.mark;
    options_.phase = producer.valid() ? graph_.nodes[producer].phase : Phase::kForward;
    options_.path = producer.valid() ? graph_.nodes[producer].path : PathId();
    const ValueId x = decision.value;
    const std::string out = value.name + ".swap_out", in = value.name + ".swap_in";
    const ValueId f = Add(OpId::swap_out, {x}, out, value, decision.write_seconds);
    const ValueId written = Add(OpId::swap_out_wait, {f, x}, out + ".wait", value);
    const Node reader = graph_.nodes[decision.readers[0]];
    options_.phase = reader.phase;
    options_.path = reader.path;
    const ValueId y = Add(OpId::swap_in, {f, written}, in, value, decision.read_seconds);
    const ValueId z = Add(OpId::swap_in_wait, {y, f}, in + ".wait", value);
    for (NodeId id : decision.readers) std::ranges::replace(graph_.nodes[id].inputs, x, z);
  }

 private:
  // `seconds`: that the file takes, which is not the kernel's time: that goes on.
  ValueId Add(OpId op, std::vector<ValueId> inputs, const std::string& name, const Value& swapped,
              double seconds = 0) {
    const auto option =
        OptionOfTransfer(context_.target, op, swapped.type, swapped.layout, context_.threads);
    CGRUN_CHECK(option.has_value()) << swapped.name << " cannot be swapped here";
    const ValueId output =
        builder_.AddNode(op, Attributes(), std::move(inputs), name, options_).at(0);
    graph_.values[output].layout = option->output_layouts[0];
    graph_.nodes[graph_.nodes.last()].kernel = {option->kernel,          context_.threads,
                                                option->workspace_bytes, option->in_place,
                                                option->sub_buffers,     seconds,
                                                /*is_measured=*/true};
    return output;
  }

  Graph& graph_;
  Builder builder_;
  const PassContext& context_;
  Builder::NodeOptions options_;
};

}  // namespace

bool SwapToFile(Graph& graph, const PassContext& context) {
  if (context.remat == nullptr || context.remat->swap.empty()) return false;
  Swapper swapper(graph, context);
  for (const SwapDecision& decision : context.remat->swap) swapper.Apply(decision);
  return true;
}

}  // namespace cgrun::passes
