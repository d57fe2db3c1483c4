// AddGradients: reverse accumulation over the nodes between the wanted values and the seeds.
#include <algorithm>
#include <tuple>

#include "src/autodiff/autodiff.h"
#include "src/base/check.h"
#include "src/ir/op_def.h"

namespace cgrun {
namespace {

// One use's part of a value's gradient; uses are ordered by node, then operand.
struct Contribution {
  NodeId reader;  // invalid: a seed, which comes last
  int input = 0;
  ValueId gradient;
};

bool Earlier(const Contribution& a, const Contribution& b) {
  return std::make_tuple(!a.reader.valid(), a.reader, a.input) <
         std::make_tuple(!b.reader.valid(), b.reader, b.input);
}

class ReverseMode {
 public:
  ReverseMode(Builder& builder, PathId path, Phase phase)
      : builder_(builder), path_(path), phase_(phase) {}

  std::map<ValueId, ValueId> Run(const std::vector<std::pair<ValueId, ValueId>>& seeds,
                                 const std::vector<ValueId>& wrt) {
    const std::vector<NodeId> order = TopologicalOrder(graph());
    contributions_.resize(graph().values.size());
    for (const auto& [value, gradient] : seeds) {
      contributions_[value].push_back({NodeId(), 0, gradient});
    }
    MarkDependent(order, wrt);
    for (auto it = order.rbegin(); it != order.rend(); ++it) Visit(*it);
    std::map<ValueId, ValueId> gradients;
    for (ValueId value : wrt) {
      const ValueId gradient = GradientOf(value);
      if (gradient.valid()) gradients.emplace(value, gradient);
    }
    return gradients;
  }

 private:
  class Context;

  Graph& graph() { return builder_.graph(); }

  // The values that depend on what is wanted: gradients flow through these alone. Not through
  // updates: what an optimizer has made is a value of its own.
  void MarkDependent(const std::vector<NodeId>& order, const std::vector<ValueId>& wrt) {
    dependent_.resize(graph().values.size());
    for (ValueId value : wrt) dependent_[value] = true;
    for (NodeId id : order) {
      const Node& node = graph().nodes[id];
      if (node.phase == Phase::kUpdate) continue;
      const bool depends = std::any_of(node.inputs.begin(), node.inputs.end(),
                                       [&](ValueId input) { return dependent_[input]; });
      for (ValueId output : node.outputs) dependent_[output] = dependent_[output] || depends;
    }
  }

  void Visit(NodeId id);

  // The sum of what flows into a value, added once; invalid if nothing does.
  ValueId GradientOf(ValueId value) {
    std::vector<Contribution>& parts = contributions_[value];
    if (parts.empty()) return ValueId();
    std::stable_sort(parts.begin(), parts.end(), Earlier);
    ValueId sum = parts[0].gradient;
    for (size_t i = 1; i < parts.size(); ++i) {
      sum = builder_.AddNode(OpId::add, Attributes(), {sum, parts[i].gradient},
                             graph().values[value].name + ".grad_sum", BackwardOptions())[0];
    }
    parts = {{NodeId(), 0, sum}};
    return sum;
  }

  Builder::NodeOptions BackwardOptions() {
    Builder::NodeOptions options;
    options.phase = phase_;
    options.path = path_;
    if (phase_ == Phase::kForward) return options;
    options.output_role = Role::kGradient;
    options.output_zone = Zone::kGradient;
    return options;
  }

  Builder& builder_;
  PathId path_;
  Phase phase_;
  IdVector<ValueId, std::vector<Contribution>> contributions_;
  IdVector<ValueId, bool> dependent_;
};

class ReverseMode::Context final : public GradientContext {
 public:
  // `node` is a copy: emitting nodes moves the graph's.
  Context(ReverseMode& reverse, NodeId id, std::vector<ValueId> output_gradients)
      : reverse_(reverse),
        id_(id),
        node_(reverse.graph().nodes[id]),
        output_gradients_(std::move(output_gradients)) {}

  const Graph& graph() const override { return reverse_.graph(); }
  const Node& node() const override { return node_; }
  ValueId output_gradient(int i) const override {
    return output_gradients_[static_cast<size_t>(i)];
  }
  bool needs_gradient(int i) const override {
    return reverse_.dependent_[node_.inputs[static_cast<size_t>(i)]];
  }
  std::vector<ValueId> EmitAll(OpId op, Attributes attributes, std::vector<ValueId> inputs,
                               std::string_view suffix) override {
    Builder::NodeOptions options = reverse_.BackwardOptions();
    options.mark = node_.mark;
    return reverse_.builder_.AddNode(op, std::move(attributes), std::move(inputs),
                                     node_.name + "." + std::string(suffix), options);
  }
  void SetInputGradient(int input, ValueId gradient) override {
    const ValueId value = node_.inputs[static_cast<size_t>(input)];
    if (!reverse_.dependent_[value]) return;
    CGRUN_CHECK(graph().values[gradient].type == graph().values[value].type)
        << "the gradient of " << graph().values[value].name << " has type "
        << graph().values[gradient].type.ToString() << ", not "
        << graph().values[value].type.ToString();
    reverse_.contributions_[value].push_back({id_, input, gradient});
  }

 private:
  ReverseMode& reverse_;
  NodeId id_;
  Node node_;
  std::vector<ValueId> output_gradients_;
};

void ReverseMode::Visit(NodeId id) {
  const Node& node = graph().nodes[id];
  const OpDef& def = GetOpDef(node.op);
  const bool wanted = std::any_of(node.inputs.begin(), node.inputs.end(),
                                  [&](ValueId input) { return dependent_[input]; });
  if (!wanted || def.gradient == nullptr) return;
  std::vector<ValueId> gradients;
  const std::vector<ValueId> outputs = node.outputs;
  for (ValueId output : outputs) gradients.push_back(GradientOf(output));
  const bool flows = std::any_of(gradients.begin(), gradients.end(),
                                 [](ValueId gradient) { return gradient.valid(); });
  if (!flows) return;
  Context context(*this, id, std::move(gradients));
  def.gradient(context);
}

}  // namespace

std::map<ValueId, ValueId> AddGradients(Builder& builder,
                                        const std::vector<std::pair<ValueId, ValueId>>& seeds,
                                        const std::vector<ValueId>& wrt, PathId path, Phase phase) {
  return ReverseMode(builder, path, phase).Run(seeds, wrt);
}

}  // namespace cgrun
