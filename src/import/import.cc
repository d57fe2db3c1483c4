// Read, bind, normalise with folding and inference, emit.
#include "src/import/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/import/adapters.h"
#include "src/import/bind.h"
#include "src/import/emit.h"
#include "src/import/fold.h"
#include "src/import/node_context.h"
#include "src/io/atomic_file.h"
#include "src/io/file_error.h"
#include "src/io/safetensors.h"
#include "src/onnx/wire.h"

namespace cgrun {
namespace {

constexpr int64_t kOldestOpset = 7, kNewestOpset = 27;

bool IsStandard(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

int64_t OpsetOf(const onnx::OnnxFile& file) {
  for (const onnx::OperatorSet& set : file.model().opset_imports) {
    if (!IsStandard(set.domain)) continue;
    if (set.version >= kOldestOpset && set.version <= kNewestOpset) return set.version;
    ThrowFileError(file.path(),
                   fmt::format("has operators of opset {}, and {} to {} are supported", set.version,
                               kOldestOpset, kNewestOpset),
                   "export it with another opset");
  }
  ThrowFileError(file.path(), "does not say of which opset its operators are");
}

// Initialisers, and inputs with a constant. Nothing is copied.
void AddConstants(ImportState& state, const ImportOptions& options) {
  const onnx::Graph& graph = *state.file.model().graph;
  if (!graph.sparse_initializers.empty()) {
    ThrowFileError(state.file.path(), "has sparse initialisers, which are not supported");
  }
  for (const auto& [name, tensor] : options.constants) {
    state.operands[name] = {ConstantOf(*tensor, state.file), {}};
  }
  for (const onnx::Tensor& tensor : graph.initializers) {
    if (!state.operands.emplace(tensor.name, Operand{ConstantOf(tensor, state.file), {}}).second) {
      ThrowFileError(state.file.path(), "has two initialisers '" + onnx::Shown(tensor.name) + "'");
    }
  }
}

std::vector<EmittedInput> AddInputs(ImportState& state, const Binding& binding) {
  std::vector<EmittedInput> inputs;
  for (const BoundInput& input : binding.inputs) {
    const NetworkValue value = state.network.AddInput(input.name, input.type);
    if (!state.operands.emplace(input.name, Operand{{}, value}).second) {
      ThrowFileError(state.file.path(), "has two inputs '" + onnx::Shown(input.name) + "'");
    }
    inputs.push_back({value.name, input.type});
  }
  return inputs;
}

// The names of outputs are taken first, so that they stay.
void NameOutputs(ImportState& state) {
  const onnx::Graph& graph = *state.file.model().graph;
  if (graph.outputs.empty()) ThrowFileError(state.file.path(), "has no output");
  for (const onnx::ValueInfo& output : graph.outputs) {
    ++state.uses[output.name];
    state.outputs.emplace(output.name, "");
  }
  for (auto& [name, emitted] : state.outputs) emitted = state.network.names().Take(name);
}

// Returns for each node whether an output depends on it.
std::vector<bool> LiveNodes(ImportState& state) {
  const std::vector<onnx::Node>& nodes = state.file.model().graph->nodes;
  std::set<std::string_view> wanted;
  for (const auto& [name, emitted] : state.outputs) wanted.insert(name);
  std::vector<bool> live(nodes.size());
  for (size_t i = nodes.size(); i-- > 0;) {
    live[i] = std::ranges::any_of(
        nodes[i].outputs, [&](const std::string& output) { return wanted.contains(output); });
    if (!live[i]) continue;
    for (const std::string& input : nodes[i].inputs) {
      if (input.empty()) continue;
      wanted.insert(input);
      ++state.uses[input];
    }
  }
  return live;
}

// A node Constant has a tensor, or numbers that become one.
void TakeConstantNode(NodeContext& node) {
  const onnx::OnnxFile& file = node.state().file;
  if (const onnx::Tensor* tensor = node.TensorAttribute("value")) {
    node.Set(0, {ConstantOf(*tensor, file), {}});
    return node.Finish(0);
  }
  if (node.node().attributes.size() != 1) node.Fail("holds not one value");
  const std::string name = node.node().attributes[0].name;
  auto tensor = std::make_shared<onnx::Tensor>();
  const bool is_list = name.ends_with('s');
  if (name == "value_int" || name == "value_ints") {
    tensor->data_type = onnx::DataType::kInt64;
    tensor->int64_data.values = is_list ? *node.Ints(name) : IntList{node.Int(name, 0)};
    if (is_list) tensor->dims = {std::ssize(tensor->int64_data.values)};
  } else if (name == "value_float" || name == "value_floats") {
    tensor->data_type = onnx::DataType::kFloat;
    tensor->float_data.values = is_list ? node.Reals(name) : std::vector{node.Real(name, 0)};
    if (is_list) tensor->dims = {std::ssize(tensor->float_data.values)};
  } else {
    node.FailAttribute(name, "is not supported: a constant is a tensor or numbers");
  }
  Constant constant = ConstantOf(*tensor, file);
  constant.owned = std::move(tensor);
  node.Set(0, {std::move(constant), {}});
  node.Finish(0);
}

void ImportNode(NodeContext& node) {
  const std::string& domain = node.node().domain;
  if (!IsStandard(domain)) {
    node.Fail("is an operator of '" + onnx::Shown(domain) + "', which is not supported");
  }
  if (node.node().op_type == "Constant") return TakeConstantNode(node);
  if (Fold(node)) {
    node.state().folded.push_back(node.Label());
    return;
  }
  const Adapter* adapter = FindAdapter(node.node().op_type, node.opset());
  if (adapter == nullptr) {
    node.Fail("cannot be imported: there is no such operator in this version of cgrun",
              "cut the model before this node, or export it with other operators");
  }
  adapter->import(node, *adapter);
  node.Finish(adapter->max_inputs);
}

// Declared shapes of outputs are assertions. The names of their dimensions say nothing.
void CheckDeclared(const ImportState& state, const onnx::ValueInfo& output, const Shape& shape) {
  if (!output.type || !output.type->tensor_type || !output.type->tensor_type->shape) return;
  const std::vector<onnx::Dimension>& dims = output.type->tensor_type->shape->dims;
  bool fits = static_cast<int>(dims.size()) == shape.rank();
  for (int axis = 1; fits && axis < shape.rank(); ++axis) {
    const auto& declared = dims[static_cast<size_t>(axis)].dim_value;
    fits = !declared || *declared == shape[axis].size;
  }
  if (fits) return;
  std::vector<std::string> sizes;
  for (const onnx::Dimension& dim : dims) {
    sizes.push_back(dim.dim_value ? std::to_string(*dim.dim_value)
                                  : onnx::Shown(dim.dim_param.value_or("?")));
  }
  ThrowFileError(state.file.path(),
                 fmt::format("says that its output '{}' is [{}], and it is {}",
                             onnx::Shown(output.name), fmt::join(sizes, ", "), shape.ToString()));
}

// Returns the names of the outputs in the model file, in the order of the graph.
std::vector<std::string> FinishOutputs(ImportState& state) {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const onnx::ValueInfo& output : state.file.model().graph->outputs) {
    const std::string shown = onnx::Shown(output.name);
    const auto found = state.operands.find(output.name);
    if (found == state.operands.end()) {
      ThrowFileError(state.file.path(), "has no node that makes its output '" + shown + "'");
    }
    if (found->second.constant) {
      ThrowFileError(state.file.path(), "has the constant '" + shown + "' as an output");
    }
    const std::string& name = state.outputs.find(output.name)->second;
    if (!seen.insert(name).second) continue;
    NetworkValue& value = found->second.value;
    const Shape& shape = state.network.TypeOf(value).shape;
    if (shape.rank() == 0 || !(shape[0] == kBatchDim)) {
      ThrowFileError(state.file.path(), "has the output '" + shown + "' of shape " +
                                            shape.ToString() +
                                            ", in which the batch is not the first axis");
    }
    CheckDeclared(state, output, shape);
    if (value.name != name) {
      value = state.network.Add({name, "identity", {}, {}, {}}, {{value, ""}}, true);
    }
    names.push_back(name);
  }
  return names;
}

std::vector<Weight> WeightsOf(const Network& network) {
  std::vector<Weight> weights;
  for (const Item& item : network.items()) {
    for (Weight weight : item.weights) {
      weight.name = std::string(kImportedPath) + "." + item.name + "." + weight.name;
      weights.push_back(std::move(weight));
    }
  }
  return weights;
}

template <class T>
std::vector<std::byte> Converted(const Weight& weight, onnx::ByteSpan from) {
  const auto elements = static_cast<size_t>(weight.type.shape.Elements());
  std::vector<std::byte> to(elements * sizeof(T));
  const auto columns = weight.transposed ? static_cast<size_t>(weight.source.dims[1]) : 1;
  const auto rows = weight.transposed ? static_cast<size_t>(weight.source.dims[0]) : elements;
  const bool repeats = ElementsOf(weight.source) == 1;
  size_t at = 0;
  for (size_t column = 0; column < columns; ++column) {
    for (size_t row = 0; row < rows; ++row, at += sizeof(T)) {
      T value;
      const size_t place = repeats ? 0 : row * columns + column;
      std::memcpy(&value, from.data() + place * sizeof(T), sizeof value);
      value = static_cast<T>(value * static_cast<T>(weight.factor));
      std::memcpy(to.data() + at, &value, sizeof value);
    }
  }
  return to;
}

class WeightSource : public TensorSource {
 public:
  WeightSource(const ImportedModel& model, onnx::OnnxFile& file) : model_(model), file_(file) {}
  std::span<const std::byte> BytesOf(size_t index) override {
    bytes_ = onnx::TensorBytes(onnx::ByteSpan());  // so that no two tensors are in memory
    bytes_ = cgrun::BytesOf(model_.weights[index], file_);
    return bytes_.bytes();
  }

 private:
  const ImportedModel& model_;
  onnx::OnnxFile& file_;
  onnx::TensorBytes bytes_{onnx::ByteSpan()};
};

}  // namespace

ImportedModel ImportOnnx(onnx::OnnxFile& file, const ImportOptions& options) {
  ImportState state{.file = file, .opset = OpsetOf(file)};
  const Binding binding = BindInputs(file, options);
  state.batch = binding.batch;
  AddConstants(state, options);
  const std::vector<EmittedInput> inputs = AddInputs(state, binding);
  NameOutputs(state);
  const std::vector<bool> live = LiveNodes(state);
  const std::vector<onnx::Node>& nodes = file.model().graph->nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!live[i]) continue;
    NodeContext node(state, nodes[i], i);
    ImportNode(node);
  }
  const std::vector<std::string> outputs = FinishOutputs(state);
  file.CheckWhole();
  return {.tree = EmitModel(state.network, inputs, outputs),
          .weights = WeightsOf(state.network),
          .bound = binding.lines,
          .folded = state.folded,
          .nodes = nodes.size(),
          .items = state.network.items().size()};
}

onnx::TensorBytes BytesOf(const Weight& weight, onnx::OnnxFile& file) {
  onnx::TensorBytes bytes = file.Bytes(*weight.source.tensor);
  const bool as_is = !weight.transposed && weight.factor == 1 &&
                     ElementsOf(weight.source) == weight.type.shape.Elements();
  if (as_is) return bytes;
  if (weight.type.dtype == DType::kF64) {
    return onnx::TensorBytes(Converted<double>(weight, bytes.bytes()));
  }
  return onnx::TensorBytes(Converted<float>(weight, bytes.bytes()));
}

void WriteImported(const ImportedModel& model, onnx::OnnxFile& file, const std::string& path,
                   const std::string& weights_path) {
  TreeNode tree = model.tree;
  if (!model.weights.empty()) {
    std::vector<TensorSpec> specs;
    for (const Weight& weight : model.weights) {
      specs.push_back({weight.name, weight.type.dtype, weight.type.shape});
    }
    WeightSource source(model, file);
    SafetensorsWriter(std::move(specs))
        .WriteWithChecksum(weights_path, source, {{kChecksumKey, std::string(16, '0')}});
    file.CheckWhole();
    const size_t slash = weights_path.rfind('/');
    const std::string name =
        slash == weights_path.npos ? weights_path : weights_path.substr(slash + 1);
    tree.entries.insert(tree.entries.begin() + 1, KeyOf("weights", name));
  }
  const std::string text = ToYaml(tree);
  WriteFileAtomically(path, std::as_bytes(std::span(text)));
}

}  // namespace cgrun
