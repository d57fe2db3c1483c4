// Selection is greedy in topological order: each node takes its cheapest option given the layouts
// of its inputs. The cost of this choice for later nodes is not known then. So the whole graph is
// selected twice: once as if that cost were nothing, and once as if all results were wanted plain.
// The graph that takes less is taken.
#include "src/select/select.h"

#include <map>
#include <optional>
#include <utility>

#include "src/ir/builder.h"
#include "src/ir/op_def.h"
#include "src/select/reorder_node.h"
#include "src/select/workspace_budget.h"

namespace cgrun {
namespace {

// Says how the selector expects that the results of a node are read.
enum class Outlook { kAsTheyLie, kPlain };

class Selector {
 public:
  Selector(Graph& graph, const Target& target, const SelectOptions& options, Outlook outlook,
           Diagnostics& diagnostics)
      : graph_(graph),
        builder_(graph),
        target_(target),
        options_(options),
        outlook_(outlook),
        diagnostics_(diagnostics),
        learns_(graph.Learns()),
        budget_(WorkspaceBudget(graph)) {}

  void Run() {
    AssignStateLayouts();
    for (NodeId id : TopologicalOrder(graph_)) {
      if (!graph_.nodes[id].kernel) Select(id);
    }
    AssignResultLayouts();
  }

 private:
  void AssignStateLayouts() {
    for (const auto& [name, layout] : options_.state_layouts) {
      const ValueId state = builder_.FindValue(name);
      if (state.valid()) graph_.values[state].layout = layout;
    }
  }

  void Select(NodeId id) {
    const NodeSignature signature = SignatureOf(graph_, graph_.nodes[id]);
    RunSetting setting{options_.threads, {}, learns_, budget_};
    for (ValueId input : graph_.nodes[id].inputs) {
      setting.layouts.push_back(graph_.values[input].layout);
    }
    const std::vector<KernelOption> options = target_.Options(signature, setting);
    if (options.empty()) return Refuse(id, signature);
    size_t best = 0;
    auto least = std::make_pair(Seconds(id, options[0]), CountReordered(id, options[0]));
    for (size_t i = 1; i < options.size(); ++i) {
      const auto rank = std::make_pair(Seconds(id, options[i]), CountReordered(id, options[i]));
      if (rank >= least) continue;
      best = i;
      least = rank;
    }
    Apply(id, options[best]);
  }

  // Counts the inputs that the kernel does not read as they lie. If times are equal, the option
  // with fewer wins, because a copy that exists for others can become needless.
  int64_t CountReordered(NodeId id, const KernelOption& option) const {
    const std::vector<ValueId>& inputs = graph_.nodes[id].inputs;
    int64_t count = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      count += graph_.values[inputs[i]].layout != option.input_layouts[i];
    }
    return count;
  }

  void Refuse(NodeId id, const NodeSignature& signature) {
    ReportNoKernel(graph_.nodes[id], signature, target_, diagnostics_);
  }

  double Seconds(NodeId id, const KernelOption& option) {
    double seconds = option.seconds;
    const std::vector<ValueId> inputs = graph_.nodes[id].inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Layout& wanted = option.input_layouts[i];
      if (graph_.values[inputs[i]].layout == wanted) continue;
      if (reordered_.contains({inputs[i], wanted.ToString()})) continue;
      if (options_.any_state_layout && CanLieIn(graph_, inputs[i], wanted)) continue;
      seconds += ReorderSeconds(Reorder(inputs[i], wanted), target_, options_.threads);
    }
    if (outlook_ == Outlook::kAsTheyLie) return seconds;
    const std::vector<ValueId>& outputs = graph_.nodes[id].outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Layout& written = option.output_layouts[i];
      if (written.IsPlain()) continue;
      const NodeSignature back =
          ReorderSignature(graph_.values[outputs[i]].type, written, Layout());
      seconds += ReorderSeconds(back, target_, options_.threads);
    }
    return seconds;
  }

  void Apply(NodeId id, const KernelOption& option) {
    std::vector<ValueId> inputs = graph_.nodes[id].inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = InLayout(inputs[i], option.input_layouts[i], graph_.nodes[id]);
    }
    Node& node = graph_.nodes[id];
    node.inputs = std::move(inputs);
    node.kernel = ChoiceOf(option, options_.threads);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      graph_.values[node.outputs[i]].layout = option.output_layouts[i];
    }
  }

  NodeSignature Reorder(ValueId value, const Layout& to) const {
    const Value& from = graph_.values[value];
    return ReorderSignature(from.type, from.layout, to);
  }

  // The value in another layout: itself, a reorder that is there already, or a new one.
  ValueId InLayout(ValueId value, const Layout& layout, const Node& reader) {
    if (graph_.values[value].layout == layout) return value;
    const auto key = std::make_pair(value, layout.ToString());
    if (const auto it = reordered_.find(key); it != reordered_.end()) return it->second;
    const NodeSignature signature = Reorder(value, layout);
    Builder::NodeOptions node_options;
    node_options.phase = reader.phase;
    node_options.path = reader.path;
    node_options.mark = reader.mark;
    node_options.output_role =
        graph_.values[value].role == Role::kGradient ? Role::kGradient : Role::kIntermediate;
    node_options.output_zone = graph_.values[value].zone;
    const ValueId copy = builder_.AddNode(OpId::reorder, signature.attributes, {value},
                                          graph_.values[value].name + ".reorder", node_options)[0];
    graph_.values[copy].layout = layout;
    const std::vector<KernelOption> options = target_.Options(signature, {options_.threads});
    if (options.empty()) {
      Refuse(graph_.values[copy].producer, signature);
    } else {
      graph_.nodes[graph_.values[copy].producer].kernel = ChoiceOf(options[0], options_.threads);
    }
    reordered_.emplace(key, copy);
    return copy;
  }

  // Values that are read from outside are plain. A state's next value has the layout of the state.
  void AssignResultLayouts() {
    for (Output& output : graph_.outputs)
      output.value = InLayoutFor(output.value, Layout(), output.path);
    for (UpdateEdge& edge : graph_.updates) {
      edge.next = InLayoutFor(edge.next, graph_.values[edge.state].layout, PathId());
    }
  }

  ValueId InLayoutFor(ValueId value, const Layout& layout, PathId path) {
    const NodeId producer = graph_.values[value].producer;
    Node reader;  // that a reorder takes its phase, path and mark from
    reader.path = path;
    reader.mark = graph_.values[value].mark;
    if (producer.valid()) reader = graph_.nodes[producer];
    return InLayout(value, layout, reader);
  }

  Graph& graph_;
  Builder builder_;
  const Target& target_;
  SelectOptions options_;
  Outlook outlook_;
  Diagnostics& diagnostics_;
  const bool learns_;
  const int64_t budget_;
  std::map<std::pair<ValueId, std::string>, ValueId> reordered_;
};

}  // namespace

double SecondsOfKernels(const Graph& graph) {
  double seconds = 0;
  for (const Node& node : graph.nodes) seconds += node.kernel->seconds;
  return seconds;
}

Graph SelectKernels(const Graph& graph, const Target& target, const SelectOptions& options,
                    Diagnostics& diagnostics) {
  Graph selected = graph;
  const int errors = diagnostics.error_count();
  Selector(selected, target, options, Outlook::kAsTheyLie, diagnostics).Run();
  const bool reorders = selected.nodes.size() > graph.nodes.size();
  if (!reorders || diagnostics.error_count() > errors) return selected;
  Graph plain = graph;
  Selector(plain, target, options, Outlook::kPlain, diagnostics).Run();
  return SecondsOfKernels(plain) < SecondsOfKernels(selected) ? plain : selected;
}

void SelectMissingKernels(Graph& graph, const Target& target, const SelectOptions& options,
                          Diagnostics& diagnostics) {
  Selector(graph, target, options, Outlook::kAsTheyLie, diagnostics).Run();
}

}  // namespace cgrun
