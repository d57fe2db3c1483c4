// Rewriter: each edit keeps the index.
#include "src/passes/rewriter.h"

#include <utility>

#include "src/base/check.h"

namespace cgrun {

Rewriter::Rewriter(Graph& graph) : graph_(graph) {
  NoteValues();
  for (NodeId id : graph.nodes.ids()) NoteInputs(id);
  for (size_t i = 0; i < graph.outputs.size(); ++i) outputs_[graph.outputs[i].value].push_back(i);
  for (size_t i = 0; i < graph.updates.size(); ++i) updates_[graph.updates[i].next].push_back(i);
  for (PathId id : graph.paths.ids()) {
    losses_[graph.paths[id].loss].push_back(static_cast<size_t>(id.index));
  }
}

// What stands at the places of `from` becomes `to`; `at` gives what stands at a place.
template <class At>
void Rewriter::Move(Places& places, ValueId from, ValueId to, At at) {
  auto moved = places.extract(from);
  if (moved.empty()) return;
  std::vector<size_t>& of_to = places[to];
  for (size_t place : moved.mapped()) {
    at(place) = to;
    of_to.push_back(place);
  }
}

void Rewriter::ReplaceUses(ValueId from, ValueId to) {
  CGRUN_CHECK(graph_.values[from].type == graph_.values[to].type)
      << graph_.values[from].name << " and " << graph_.values[to].name << " differ in type";
  if (from == to) return;
  for (const Operand& operand : std::exchange(uses_[from], {})) {
    std::vector<ValueId>& inputs = graph_.nodes[operand.node].inputs;
    if (operand.input >= inputs.size() || inputs[operand.input] != from) continue;  // no longer one
    inputs[operand.input] = to;
    AddOperand(operand.node, operand.input);
  }
  operands_[from] = 0;
  Move(outputs_, from, to, [&](size_t i) -> ValueId& { return graph_.outputs[i].value; });
  Move(updates_, from, to, [&](size_t i) -> ValueId& { return graph_.updates[i].next; });
  Move(losses_, from, to,
       [&](size_t i) -> ValueId& { return graph_.paths[PathId(static_cast<int64_t>(i))].loss; });
}

void Rewriter::SetInput(NodeId node, size_t input, ValueId value) {
  ValueId& place = graph_.nodes[node].inputs[input];
  --operands_[place];
  place = value;
  AddOperand(node, input);
}

void Rewriter::SetInputs(NodeId node, std::vector<ValueId> inputs) {
  for (ValueId input : graph_.nodes[node].inputs) --operands_[input];
  graph_.nodes[node].inputs = std::move(inputs);
  NoteInputs(node);
}

void Rewriter::SetOperator(NodeId node, OpId op, Attributes attributes) {
  graph_.nodes[node].op = op;
  graph_.nodes[node].attributes = std::move(attributes);
}

ValueId Rewriter::AddConstant(HostTensor tensor, std::string_view name, SourceMark mark) {
  const ValueId constant = builder().AddConstant(std::move(tensor), name, std::move(mark));
  NoteValues();
  return constant;
}

std::vector<ValueId> Rewriter::AddNode(OpId op, Attributes attributes, std::vector<ValueId> inputs,
                                       std::string_view name, const Builder::NodeOptions& options) {
  const std::vector<ValueId> outputs =
      builder().AddNode(op, std::move(attributes), std::move(inputs), name, options);
  NoteValues();
  NoteInputs(graph_.nodes.last());
  return outputs;
}

bool Rewriter::IsInternal(ValueId value) const {
  return !outputs_.contains(value) && !updates_.contains(value);
}

Builder& Rewriter::builder() {
  if (!builder_) builder_.emplace(graph_);
  return *builder_;
}

void Rewriter::NoteValues() {
  operands_.resize(graph_.values.size());
  uses_.resize(graph_.values.size());
}

void Rewriter::NoteInputs(NodeId node) {
  for (size_t i = 0; i < graph_.nodes[node].inputs.size(); ++i) AddOperand(node, i);
}

void Rewriter::AddOperand(NodeId node, size_t input) {
  const ValueId value = graph_.nodes[node].inputs[input];
  uses_[value].push_back({node, input});
  ++operands_[value];
}

}  // namespace cgrun
