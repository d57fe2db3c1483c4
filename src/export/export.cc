// Emits node by node, and again in a later opset where a node needs one.
#include "src/export/export.h"

#include <algorithm>
#include <utility>

#include "src/export/emitters.h"
#include "src/export/node_emitter.h"
#include "src/export/opsets.h"
#include "src/onnx/number_types.h"

namespace cgrun {
namespace {

constexpr int64_t kIrWithConstants = 4;  // before, every initialiser was an input, too

// Returns "logits" of "classify.logits", as predictions call their outputs.
std::string ShortName(const Graph& graph, const Output& output) {
  const std::string prefix = output.path.valid() ? graph.paths[output.path].name + "." : "";
  return output.name.starts_with(prefix) ? output.name.substr(prefix.size()) : output.name;
}

bool IsWeight(const Value& value) {
  return value.role == Role::kParameter || value.role == Role::kRunningStatistic;
}

// Adds inputs, and names weights, in the order of the graph.
void AddSources(ExportState& state, const IdVector<ValueId, bool>& needed,
                const ExportOptions& options) {
  for (const ValueId id : state.graph.values.ids()) {
    const Value& value = state.graph.values[id];
    if (!needed[id] || value.producer.valid()) continue;
    const auto of_state = std::ranges::find(options.states, id, &ExportedState::state);
    if (of_state != options.states.end()) {
      state.values[id] = state.AddInput(of_state->input, value.type);
    } else if (value.role == Role::kPlaceholder && value.name != kStepCounter) {
      state.values[id] = state.AddInput(value.name, value.type);
    } else if (IsWeight(value)) {
      state.values[id] = {state.Take(value.name), value.type.dtype};
    }
  }
}

// A number of the model file is added at the node that reads it.
void AddConstants(NodeEmitter& node) {
  ExportState& state = node.state();
  for (const ValueId id : node.node().inputs) {
    const auto constant = state.graph.constants.find(id);
    if (constant == state.graph.constants.end() || state.values.contains(id)) continue;
    state.values[id] = node.Constant(constant->second);
  }
}

struct NamedOutput {
  ValueId value;
  std::string name;
};

// Lists outputs, then what states become. Their names are taken before those of other values.
std::vector<NamedOutput> NameOutputs(ExportState& state, const ExportOptions& options) {
  std::vector<NamedOutput> outputs;
  for (const Output& output : state.graph.outputs) {
    if (output.kind != OutputKind::kPrediction) continue;
    outputs.push_back({output.value, ShortName(state.graph, output)});
  }
  for (const ExportedState& carried : options.states) {
    outputs.push_back({carried.next, carried.output});
  }
  for (NamedOutput& output : outputs) {
    output.name = state.Take(output.name);
    state.wishes.emplace(output.value, output.name);
  }
  return outputs;
}

// Returns whether the node does what it does in training alone. No model file gives these
// attributes.
bool IsTraining(const Node& node) {
  for (const char* name : {"training", "varied"}) {
    const AttributeField* field = node.attributes.schema().Find(name);
    if (field != nullptr && field->internal && std::get<bool>(node.attributes.Get(*field))) {
      return true;
    }
  }
  return false;
}

bool HasWord(std::string_view words, std::string_view word) {
  return (" " + std::string(words) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

// An attribute that the emitter does not know would be left out in silence.
void CheckKeys(const NodeEmitter& node, const Emitter& emitter) {
  const Attributes& attributes = node.node().attributes;
  const Attributes defaults = Attributes::Defaults(attributes.schema());
  for (const AttributeField& field : attributes.schema().fields()) {
    if (emitter.keys == "*" || HasWord("key training varied", field.name) ||
        HasWord(emitter.keys, field.name)) {
      continue;
    }
    if (attributes.Get(field) == defaults.Get(field)) continue;
    node.Fail("this version does not know how ONNX says `" + field.name + ": " +
              ToString(attributes.Get(field)) + "`");
  }
}

void EmitNode(NodeEmitter& node) {
  const Emitter* emitter = FindEmitter(node.node().op);
  if (emitter == nullptr) {
    node.Fail("ONNX has no operator for it that this version knows",
              "leave it out of what is exported: `out: NAME` of a path, or `--path NAME`, says "
              "what that is");
  }
  if (IsTraining(node.node())) node.Fail("it does what it does in training");
  CheckKeys(node, *emitter);
  AddConstants(node);
  emitter->emit(node, *emitter);
}

void EmitNodes(ExportState& state, const IdVector<ValueId, bool>& needed,
               Diagnostics& diagnostics) {
  for (const NodeId id : TopologicalOrder(state.graph)) {
    const Node& node = state.graph.nodes[id];
    if (!needed[node.outputs.at(0)]) continue;
    NodeEmitter emitter(state, node);
    try {
      EmitNode(emitter);
    } catch (const ExportFault& fault) {
      diagnostics.Error(node.mark, fault.what(), fault.help());
      state.values[node.outputs[0]] = {node.name, state.graph.values[node.outputs[0]].type.dtype};
    }
  }
}

// A value that has another name, as it is an input, too, say, is copied.
void AddOutputs(ExportState& state, const std::vector<NamedOutput>& outputs) {
  for (const NamedOutput& output : outputs) {
    const OnnxValue value = state.values.at(output.value);
    const TensorType& type = state.graph.values[output.value].type;
    state.out.outputs.push_back(ValueInfoOf(output.name, type));
    if (value.name == output.name) continue;
    onnx::Node copy;
    copy.op_type = "Identity";
    copy.name = output.name + "/Identity";
    copy.inputs = {value.name};
    copy.outputs = {output.name};
    state.needed = std::max(state.needed, *FirstOpset("Identity", type.dtype));
    state.out.nodes.push_back(std::move(copy));
  }
}

// Weights stand in front of constants.
void AddWeights(ExportState& state, const WeightsFile& weights) {
  std::vector<onnx::Tensor> tensors;
  for (const auto& [id, exported] : state.values) {
    const Value& value = state.graph.values[id];
    if (value.producer.valid() || !IsWeight(value)) continue;
    onnx::Tensor tensor;
    tensor.name = exported.name;
    tensor.data_type = OnnxTypeOf(value.type.dtype);
    tensor.dims = value.type.shape.Sizes();
    tensor.raw_data = weights.Bytes(value.name);
    tensors.push_back(std::move(tensor));
  }
  auto& all = state.out.initializers;
  all.insert(all.begin(), std::make_move_iterator(tensors.begin()),
             std::make_move_iterator(tensors.end()));
}

onnx::ValueInfo ValueInfoOf(const onnx::Tensor& tensor) {
  onnx::ValueInfo info = ValueInfoOf(tensor.name, TensorType{DType::kF32, Shape::Of(tensor.dims)});
  info.type->tensor_type->elem_type = tensor.data_type;
  return info;
}

onnx::Model ModelOf(ExportState& state, const ExportOptions& options) {
  onnx::Model model;
  model.ir_version = IrVersionOf(state.opset);
  if (model.ir_version < kIrWithConstants) {
    for (const onnx::Tensor& tensor : state.out.initializers) {
      state.out.inputs.push_back(ValueInfoOf(tensor));
    }
  }
  onnx::OperatorSet set;
  set.version = state.opset;
  model.opset_imports = {set};
  model.producer_name = "cgrun";
  model.producer_version = options.producer_version;
  for (const auto& [key, value] : options.metadata) {
    onnx::Entry entry;
    entry.key = key;
    entry.value = value;
    model.metadata_props.push_back(std::move(entry));
  }
  state.out.name = state.graph.name;
  model.graph = std::move(state.out);
  return model;
}

}  // namespace

IdVector<ValueId, bool> ExportedValues(const Graph& graph, const ExportOptions& options) {
  IdVector<ValueId, bool> needed(graph.values.size(), false);
  for (const Output& output : graph.outputs) {
    if (output.kind == OutputKind::kPrediction) needed[output.value] = true;
  }
  for (const ExportedState& state : options.states) needed[state.state] = needed[state.next] = true;
  const std::vector<NodeId> order = TopologicalOrder(graph);
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const Node& node = graph.nodes[*id];
    if (std::ranges::none_of(node.outputs, [&](ValueId value) { return needed[value]; })) continue;
    for (const ValueId input : node.inputs) needed[input] = true;
  }
  return needed;
}

std::optional<ExportedModel> ExportOnnx(const Graph& graph, WeightsFile& weights,
                                        const ExportOptions& options, Diagnostics& diagnostics) {
  const IdVector<ValueId, bool> needed = ExportedValues(graph, options);
  for (int64_t opset = options.opset;;) {
    ExportState state{.graph = graph, .opset = opset, .needed = opset};
    AddSources(state, needed, options);
    const std::vector<NamedOutput> outputs = NameOutputs(state, options);
    EmitNodes(state, needed, diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
    AddOutputs(state, outputs);
    if (state.needed > opset) {
      opset = state.needed;
      continue;
    }
    AddWeights(state, weights);
    ExportedModel exported;
    exported.drawn = state.drawn;
    exported.model = ModelOf(state, options);
    return exported;
  }
}

}  // namespace cgrun
