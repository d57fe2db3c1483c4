// Read, bind, normalise with folding and inference, emit.
#include "src/import/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <tuple>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/import/bind.h"
#include "src/import/cut.h"
#include "src/import/emit.h"
#include "src/import/node_context.h"
#include "src/import/patterns.h"
#include "src/import/walk.h"
#include "src/io/atomic_file.h"
#include "src/io/file_error.h"
#include "src/io/safetensors.h"
#include "src/ir/batch_reach.h"
#include "src/onnx/wire.h"

namespace cgrun {
namespace {

constexpr int64_t kOldestOpset = 7, kNewestOpset = 27;

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

// Returns the functions of the model, by domain, name and overload.
ImportState::Functions FunctionsOf(const onnx::Model& model) {
  ImportState::Functions functions;
  for (const onnx::Function& function : model.functions) {
    const std::string domain = IsStandard(function.domain) ? "" : function.domain;
    functions.emplace(std::tuple(domain, function.name, function.overload), &function);
  }
  return functions;
}

// Inputs with a constant, then initialisers: the former may be the default of the latter.
void AddConstants(ImportState& state, const BoundInputs& binding) {
  for (const auto& [name, constant] : binding.constants) {
    state.scope->operands[name] = {constant, {}};
  }
  AddInitializers(state, *state.file.model().graph, binding.constants);
}

// A model computes in f64 where an input is that.
DType PrecisionOf(const BoundInputs& binding) {
  const bool is_double = std::ranges::any_of(
      binding.inputs, [](const BoundInput& input) { return input.type.dtype == DType::kF64; });
  return is_double ? DType::kF64 : DType::kF32;
}

std::vector<EmittedInput> AddInputs(ImportState& state, const BoundInputs& binding) {
  std::vector<EmittedInput> inputs;
  for (const BoundInput& input : binding.inputs) {
    const NetworkValue value = state.network.AddInput(input.name, input.type);
    if (!state.scope->operands.emplace(input.name, ImportedValue{{}, value}).second) {
      ThrowFileError(state.file.path(), "has two inputs '" + onnx::Shown(input.name) + "'");
    }
    inputs.push_back({value.name, input.type, input.batch});
  }
  return inputs;
}

// The names of outputs are taken first, so that they stay. Returns those of the file.
std::vector<std::string> NameOutputs(ImportState& state, const std::vector<WantedOutput>& outputs) {
  std::vector<std::string> names;
  for (const WantedOutput& output : outputs) {
    state.outputs.emplace(output.value.name, output.wish);
    names.push_back(output.value.name);
  }
  for (auto& [name, emitted] : state.outputs) emitted = state.network.names().Take(emitted);
  return names;
}

// Warns of an output whose declared shape is another one. The names of its dimensions say nothing.
// Files in use have such faults, and nothing that is computed depends on them.
void CheckDeclared(ImportState& state, const onnx::ValueInfo& output, const Shape& shape) {
  if (!output.type || !output.type->tensor_type || !output.type->tensor_type->shape) return;
  const std::vector<onnx::Dimension>& dims = output.type->tensor_type->shape->dims;
  bool fits = static_cast<int>(dims.size()) == shape.rank();
  for (int axis = 0; fits && axis < shape.rank(); ++axis) {
    const auto& declared = dims[static_cast<size_t>(axis)].dim_value;
    fits = !declared || shape[axis].batch || *declared == shape[axis].size;
  }
  if (fits) return;
  std::vector<std::string> sizes;
  for (const onnx::Dimension& dim : dims) {
    sizes.push_back(dim.dim_value ? std::to_string(*dim.dim_value)
                                  : onnx::Shown(dim.dim_param.value_or("?")));
  }
  state.warnings.push_back(fmt::format("'{}' says that its output '{}' is [{}], and it is {}",
                                       state.file.path(), onnx::Shown(output.name),
                                       fmt::join(sizes, ", "), shape.ToString()));
}

// Returns the value of an output. A constant becomes one.
NetworkValue OutputValue(ImportState& state, const onnx::ValueInfo& output) {
  const ImportedValue* operand = state.scope->Find(output.name);
  if (operand == nullptr) {
    ThrowFileError(state.file.path(),
                   "has no node that makes its output '" + onnx::Shown(output.name) + "'");
  }
  if (!operand->constant) return operand->value;
  onnx::Node reader;
  reader.op_type = "output";
  reader.name = output.name;
  reader.inputs = {output.name};
  return NodeContext(state, reader, 0).Value(0);
}

// Samples must be told apart in what depends on them.
void CheckRows(const ImportState& state, const onnx::ValueInfo& output, const NetworkValue& value) {
  const Shape& shape = state.network.TypeOf(value).shape;
  if (shape.rank() > 0 && shape[0] == kBatchDim) return;
  if (!DependsOnBatch(state.network.graph(), value.id)) return;
  ThrowFileError(state.file.path(), "has the output '" + onnx::Shown(output.name) + "' of shape " +
                                        shape.ToString() +
                                        ", in which the batch is not the first axis");
}

// Returns the names of the outputs in the model file, in the order of the graph.
std::vector<std::string> FinishOutputs(ImportState& state,
                                       const std::vector<WantedOutput>& outputs) {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const auto& [output, wish] : outputs) {
    const std::string& name = state.outputs.find(output.name)->second;
    if (!seen.insert(name).second) continue;
    const NetworkValue value = OutputValue(state, output);
    CheckRows(state, output, value);
    CheckDeclared(state, output, state.network.TypeOf(value).shape);
    if (value.name != name) {
      state.network.Add({name, "identity", {}, {}, {}}, {{value, ""}}, true);
    }
    names.push_back(name);
  }
  return names;
}

// All folded tensors together may take as much as the model, and 64 MiB.
FoldBudget BudgetFor(const onnx::OnnxFile& file) {
  constexpr int64_t kAlways = 64 << 20;
  std::error_code error;
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(file.path(), error));
  const int64_t size = error ? 0 : bytes;
  return {.bytes = kAlways + size, .dequantised = kAlways + 8 * size};
}

std::vector<Weight> WeightsOf(const Network& network, const std::vector<std::string>& labels) {
  std::vector<Weight> weights;
  for (size_t i = 0; i < labels.size(); ++i) {
    for (Weight weight : network.items()[i].weights) {
      weight.name = std::string(kImportedPath) + "." + labels[i] + "." + weight.name;
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

namespace {

ImportedModel ImportWith(onnx::OnnxFile& file, const ImportOptions& options, BatchAxis batch) {
  const BoundInputs binding = BindInputs(file, options, batch);
  GraphScope scope{.is_main = true};
  ImportState state{.file = file,
                    .opset = OpsetOf(file),
                    .batch = binding.batch,
                    .network = Network(PrecisionOf(binding)),
                    .scope = &scope,
                    .functions = FunctionsOf(file.model()),
                    .budget = BudgetFor(file)};
  AddConstants(state, binding);
  const std::vector<EmittedInput> inputs = AddInputs(state, binding);
  const std::vector<WantedOutput> wanted = WantedOutputs(file, options.outputs);
  ImportNodes(state, file.model().graph->nodes, NameOutputs(state, wanted));
  const std::vector<std::string> outputs = FinishOutputs(state, wanted);
  std::vector<std::string> recognised = RecognisePatterns(state.network, outputs, file);
  file.CheckWhole();
  EmittedModel emitted = EmitModel(state.network, inputs, outputs, options.blocks);
  return {.tree = std::move(emitted.tree),
          .weights = WeightsOf(state.network, emitted.labels),
          .learned = state.learned,
          .bound = binding.lines,
          .folded = state.folded,
          .recognised = std::move(recognised),
          .warnings = std::move(state.warnings),
          .nodes = file.model().graph->nodes.size(),
          .items = state.network.items().size(),
          .has_batch = batch == BatchAxis::kFirst};
}

// Returns whether the model can be imported without a batch, for any size of the dimensions.
bool FitsWithoutBatch(onnx::OnnxFile& file, ImportOptions options,
                      const std::vector<std::string>& dimensions) {
  for (const int64_t size : {1, 2}) {
    for (const std::string& name : dimensions) options.dims[name] = size;
    try {
      ImportWith(file, options, BatchAxis::kNone);
      return true;
    } catch (const InputError&) {
    }
  }
  return false;
}

}  // namespace

ImportedModel ImportOnnx(onnx::OnnxFile& file, const ImportOptions& options) {
  try {
    return ImportWith(file, options, BatchAxis::kFirst);
  } catch (const UnboundDimensions&) {
    throw;
  } catch (const InputError& with_batch) {
    if (options.needs_batch) throw;
    try {
      ImportedModel model = ImportWith(file, options, BatchAxis::kNone);
      const std::string why = with_batch.what();
      model.bound.insert(model.bound.begin(), "no input has a batch, because with one, " + why);
      return model;
    } catch (const UnboundDimensions& without_batch) {
      if (!FitsWithoutBatch(file, options, without_batch.names)) throw with_batch;
      const std::string before = with_batch.help().empty() ? "" : with_batch.help() + "; ";
      throw InputError(with_batch.what(),
                       before + "if it is the batch that is in the way, " + without_batch.help());
    }
  }
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

void WriteImportedWeights(const ImportedModel& model, onnx::OnnxFile& file,
                          const std::string& path) {
  std::vector<TensorSpec> specs;
  for (const Weight& weight : model.weights) {
    specs.push_back({weight.name, weight.type.dtype, weight.type.shape});
  }
  WeightSource source(model, file);
  SafetensorsWriter(std::move(specs))
      .WriteWithChecksum(path, source, {{kChecksumKey, std::string(16, '0')}});
  file.CheckWhole();
}

void WriteImported(const ImportedModel& model, onnx::OnnxFile& file, const std::string& path,
                   const std::string& weights_path) {
  TreeNode tree = model.tree;
  WriteImportedWeights(model, file, weights_path);
  const size_t slash = weights_path.rfind('/');
  const std::string name =
      slash == weights_path.npos ? weights_path : weights_path.substr(slash + 1);
  tree.entries.insert(tree.entries.begin() + 1, KeyOf("weights", name));
  const std::string text = ToYaml(tree);
  WriteFileAtomically(path, std::as_bytes(std::span(text)));
}

}  // namespace cgrun
