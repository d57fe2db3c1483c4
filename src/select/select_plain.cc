// One node after another in the order in which they stand, each with its own reorders around it.
#include "src/select/select_plain.h"

#include <map>
#include <utility>

#include "src/ir/builder.h"
#include "src/ir/op_def.h"
#include "src/select/reorder_node.h"
#include "src/select/workspace_budget.h"

namespace cgrun {
namespace {

class PlainSelector {
 public:
  PlainSelector(Graph graph, const Target& target, const SelectOptions& options,
                Diagnostics& diagnostics)
      : graph_(std::move(graph)),
        names_(graph_),
        target_(target),
        options_(options),
        diagnostics_(diagnostics),
        learns_(graph_.Learns()),
        budget_(WorkspaceBudget(graph_)) {}

  Graph Run() {
    for (Node& node : graph_.nodes) Select(std::move(node));
    graph_.nodes = std::move(nodes_);
    return std::move(graph_);
  }

 private:
  void Select(Node node) {
    const NodeSignature signature = SignatureOf(graph_, node);
    const std::vector<KernelOption> options =
        target_.Options(signature, {options_.threads, {}, learns_, budget_});
    if (options.empty()) {
      ReportNoKernel(node, signature, target_, diagnostics_);
      return Append(std::move(node));
    }
    size_t best = 0;
    double least = Seconds(signature, options[0]);
    for (size_t i = 1; i < options.size(); ++i) {
      const double seconds = Seconds(signature, options[i]);
      if (seconds >= least) continue;
      best = i;
      least = seconds;
    }
    Apply(std::move(node), options[best]);
  }

  double Seconds(const NodeSignature& node, const KernelOption& option) const {
    double seconds = option.seconds;
    const auto add = [&](const TensorType& type, const Layout& from, const Layout& to) {
      if (from == to) return;
      seconds += ReorderSeconds(ReorderSignature(type, from, to), target_, options_.threads);
    };
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      add(node.inputs[i], Layout(), option.input_layouts[i]);
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      add(node.outputs[i], option.output_layouts[i], Layout());
    }
    return seconds;
  }

  void Apply(Node node, const KernelOption& option) {
    node.kernel = ChoiceOf(option, options_.threads);
    std::map<std::pair<ValueId, std::string>, ValueId> copies;  // an operand that is read twice
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Layout& layout = option.input_layouts[i];
      if (layout.IsPlain()) continue;
      ValueId& copy = copies[{node.inputs[i], layout.ToString()}];
      if (!copy.valid()) {
        copy = Copy(node.inputs[i], layout);
        AppendReorder(node, node.inputs[i], copy);
      }
      node.inputs[i] = copy;
    }
    std::vector<std::pair<ValueId, ValueId>> results;  // as the kernel writes it, as others read it
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (option.output_layouts[i].IsPlain()) continue;
      const ValueId written = Copy(node.outputs[i], option.output_layouts[i]);
      results.emplace_back(written, std::exchange(node.outputs[i], written));
    }
    const Node origin = node;
    Append(std::move(node));
    for (const auto& [written, read] : results) AppendReorder(origin, written, read);
  }

  // Returns a value of the same type in another layout.
  ValueId Copy(ValueId value, const Layout& layout) {
    Value copy = graph_.values[value];
    copy.name = names_.UniqueName(copy.name + ".reorder");
    copy.layout = layout;
    copy.role = copy.role == Role::kGradient ? Role::kGradient : Role::kIntermediate;
    return graph_.values.push_back(std::move(copy));
  }

  void AppendReorder(const Node& origin, ValueId from, ValueId to) {
    const NodeSignature signature = ReorderSignature(
        graph_.values[from].type, graph_.values[from].layout, graph_.values[to].layout);
    Node node;
    node.op = OpId::reorder;
    node.attributes = signature.attributes;
    node.inputs = {from};
    node.outputs = {to};
    node.phase = origin.phase;
    node.path = origin.path;
    node.mark = origin.mark;
    node.name = names_.UniqueName(origin.name + ".reorder");
    const std::vector<KernelOption> options = target_.Options(signature, {options_.threads});
    if (options.empty()) {
      ReportNoKernel(node, signature, target_, diagnostics_);
    } else {
      node.kernel = ChoiceOf(options[0], options_.threads);
    }
    Append(std::move(node));
  }

  void Append(Node node) {
    const std::vector<ValueId> outputs = node.outputs;
    const NodeId id = nodes_.push_back(std::move(node));
    for (size_t i = 0; i < outputs.size(); ++i) {
      graph_.values[outputs[i]].producer = id;
      graph_.values[outputs[i]].output_index = static_cast<int>(i);
    }
  }

  Graph graph_;
  Builder names_;
  const Target& target_;
  SelectOptions options_;
  Diagnostics& diagnostics_;
  const bool learns_;
  const int64_t budget_;
  IdVector<NodeId, Node> nodes_;
};

}  // namespace

Graph SelectPlainKernels(Graph graph, const Target& target, const SelectOptions& options,
                         Diagnostics& diagnostics) {
  return PlainSelector(std::move(graph), target, options, diagnostics).Run();
}

}  // namespace cgrun
