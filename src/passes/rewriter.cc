// Rewriter: each edit keeps the index.
#include "src/passes/rewriter.h"

#include <algorithm>
#include <utility>

#include "src/base/check.h"

namespace cgrun {

Rewriter::Rewriter(Graph& graph) : graph_(graph), uses_(graph.values.size()) {
  NoteValues();
  for (const Node& node : graph.nodes) {
    for (ValueId input : node.inputs) uses_.Count(input);
  }
  uses_.Allot();
  for (NodeId id : graph.nodes.ids()) {
    const std::vector<ValueId>& inputs = graph.nodes[id].inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      uses_.Add(inputs[i], {id, static_cast<int32_t>(i)});
      ++operands_[inputs[i]];
    }
  }
  const auto add = [](Places& places, ValueId value, size_t place) {
    places.Add(value, static_cast<int32_t>(place));
  };
  for (size_t i = 0; i < graph.outputs.size(); ++i) add(outputs_, graph.outputs[i].value, i);
  for (size_t i = 0; i < graph.updates.size(); ++i) add(updates_, graph.updates[i].next, i);
  for (PathId id : graph.paths.ids()) losses_.Add(graph.paths[id].loss, id.index);
}

void Rewriter::Places::Add(ValueId value, int32_t place) {
  next.resize(std::max(next.size(), static_cast<size_t>(place) + 1), -1);
  if (value.valid()) next[static_cast<size_t>(place)] = std::exchange(first[value], place);
}

template <class Visitor>
void Rewriter::Places::Move(ValueId from, ValueId to, const Visitor& move) {
  int32_t place = std::exchange(first[from], -1);
  while (place >= 0) {
    const int32_t behind = next[static_cast<size_t>(place)];
    move(static_cast<size_t>(place));
    Add(to, place);
    place = behind;
  }
}

void Rewriter::ReplaceUses(ValueId from, ValueId to) {
  CGRUN_CHECK(graph_.values[from].type == graph_.values[to].type)
      << graph_.values[from].name << " and " << graph_.values[to].name << " differ in type";
  if (from == to) return;
  const auto replace = [&](const Operand& operand) {
    std::vector<ValueId>& inputs = graph_.nodes[operand.node].inputs;
    const auto input = static_cast<size_t>(operand.input);
    if (input >= inputs.size() || inputs[input] != from) return;  // no longer one
    inputs[input] = to;
    AddOperand(operand.node, input);
  };
  if (static_cast<size_t>(from.index) < uses_.size() && !is_replaced_[from]) {
    for (const Operand& operand : uses_[from]) replace(operand);
  }
  is_replaced_[from] = true;
  if (const auto more = more_uses_.extract(from)) {
    for (const Operand& operand : more.mapped()) replace(operand);
  }
  operands_[from] = 0;
  outputs_.Move(from, to, [&](size_t i) { graph_.outputs[i].value = to; });
  updates_.Move(from, to, [&](size_t i) { graph_.updates[i].next = to; });
  losses_.Move(from, to,
               [&](size_t i) { graph_.paths[PathId(static_cast<int64_t>(i))].loss = to; });
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

Builder& Rewriter::builder() {
  if (!builder_) builder_.emplace(graph_);
  return *builder_;
}

void Rewriter::NoteValues() {
  operands_.resize(graph_.values.size());
  is_replaced_.resize(graph_.values.size());
  for (Places* places : {&outputs_, &updates_, &losses_}) {
    places->first.resize(graph_.values.size(), -1);
  }
}

void Rewriter::NoteInputs(NodeId node) {
  for (size_t i = 0; i < graph_.nodes[node].inputs.size(); ++i) AddOperand(node, i);
}

void Rewriter::AddOperand(NodeId node, size_t input) {
  const ValueId value = graph_.nodes[node].inputs[input];
  more_uses_[value].push_back({node, static_cast<int32_t>(input)});
  ++operands_[value];
}

}  // namespace cgrun
