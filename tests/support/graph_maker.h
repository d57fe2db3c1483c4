// Writes small graphs by hand, a call a value: tensors are f32.
#ifndef CGRUN_TESTS_SUPPORT_GRAPH_MAKER_H_
#define CGRUN_TESTS_SUPPORT_GRAPH_MAKER_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/ir/builder.h"
#include "src/ir/graph.h"

namespace cgrun {

class GraphMaker {
 public:
  GraphMaker() : builder_(graph_) { graph_.name = "small"; }

  ValueId Feed(const std::string& name, Shape shape, DType dtype = DType::kF32) {
    return builder_.AddSource(Role::kPlaceholder, Zone::kForward, {dtype, std::move(shape)}, name);
  }
  ValueId State(const std::string& name, Shape shape, Role role = Role::kParameter) {
    const Zone zone = role == Role::kOptimizerState ? Zone::kOptimizer : Zone::kForward;
    const ValueId id = builder_.AddSource(role, zone, {DType::kF32, std::move(shape)}, name);
    graph_.parameters[id].init = "ones";
    return id;
  }
  ValueId Constant(const std::string& name, Shape shape, const std::vector<float>& numbers) {
    return builder_.AddConstant(HostTensor::Of<float>(std::move(shape), numbers), name);
  }
  ValueId Scalar(const std::string& name, float number) { return Constant(name, {}, {number}); }

  // The first output of a new node; `zone` is that of its outputs. Attributes are the operator's
  // defaults unless they are given.
  ValueId Op(OpId op, const std::string& name, std::vector<ValueId> inputs,
             std::optional<Attributes> attributes = {}, Zone zone = Zone::kForward) {
    return Ops(op, name, std::move(inputs), std::move(attributes), zone)[0];
  }
  std::vector<ValueId> Ops(OpId op, const std::string& name, std::vector<ValueId> inputs,
                           std::optional<Attributes> attributes = {}, Zone zone = Zone::kForward) {
    Builder::NodeOptions options;
    options.phase = phase;
    options.output_zone = zone;
    if (!attributes) attributes = Attributes::Defaults(*GetOpDef(op).schema);
    return builder_.AddNode(op, *attributes, std::move(inputs), name, options);
  }
  // A fused node of these inputs, which have the type of its result.
  ValueId Fused(const std::string& name, std::vector<ValueId> inputs,
                std::vector<FusedOperator> body) {
    Node node;
    node.op = OpId::fused;
    node.name = name;
    node.phase = phase;
    node.body = std::move(body);
    Value result;
    result.name = name;
    result.type = graph_.values[inputs[0]].type;
    result.producer = NodeId(static_cast<int64_t>(graph_.nodes.size()));
    node.inputs = std::move(inputs);
    node.outputs = {graph_.values.push_back(std::move(result))};
    graph_.nodes.push_back(node);
    return node.outputs[0];
  }
  void Update(ValueId state, ValueId next) { graph_.updates.push_back({state, next}); }
  void Out(ValueId value, const std::string& name) {
    graph_.outputs.push_back({value, OutputKind::kKept, name, PathId()});
  }

  Graph& graph() { return graph_; }
  Node& Producer(ValueId value) { return graph_.nodes[graph_.values[value].producer]; }

  Phase phase = Phase::kForward;  // of the nodes that follow

 private:
  Graph graph_;
  Builder builder_;
};

// The node of that name.
inline NodeId FindNode(const Graph& graph, std::string_view name) {
  for (NodeId id : graph.nodes.ids()) {
    if (graph.nodes[id].name == name) return id;
  }
  return NodeId();
}

// Counts the nodes of that operator.
inline int CountOps(const Graph& graph, OpId op) {
  int count = 0;
  for (const Node& node : graph.nodes) count += node.op == op;
  return count;
}

}  // namespace cgrun

#endif  // CGRUN_TESTS_SUPPORT_GRAPH_MAKER_H_
