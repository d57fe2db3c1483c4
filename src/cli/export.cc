// cgrun export: the network that predicts, with its weights, becomes a model of ONNX.
#include "src/export/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "src/base/json_text.h"
#include "src/base/shell_word.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/group_runs.h"
#include "src/cli/model_differences.h"
#include "src/cli/model_flags.h"
#include "src/cli/version.h"
#include "src/cli/weights_flag.h"
#include "src/compile/model_graph.h"
#include "src/frontend/frontend.h"
#include "src/model/values.h"
#include "src/onnx/tensor_bytes.h"
#include "src/report/table.h"
#include "src/run/weight_names.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostInline = int64_t{1} << 30;  // bytes of weights in the model itself

struct ExportFlags {
  ModelFlags model;
  std::string output, path, weights, inline_size;
  int64_t batch = 0;  // 0: open
  int64_t opset = kLeastOpset;
  bool force = false;
};

void RefuseExistingFile(const ExportFlags& flags, const std::string& path) {
  std::error_code error;
  if (flags.force || !fs::exists(path, error)) return;
  throw InputError("'" + path + "' exists, so it is not replaced",
                   "`--force` replaces it, or name another file: `-o other.onnx`");
}

int64_t InlineBytesOf(const ExportFlags& flags) {
  if (flags.inline_size.empty()) return kMostInline;
  const std::optional<int64_t> bytes = ParseBytes(flags.inline_size);
  if (bytes && *bytes <= kMostInline) return *bytes;
  throw InputError("'--inline " + flags.inline_size + "' is no size of at most 1 GiB",
                   "write a number of bytes, such as `--inline 100MiB`");
}

// A run folder stands for its model file and its weights.
void TakeRunFolder(ExportFlags& flags) {
  std::error_code error;
  const fs::path of_run = fs::path(flags.model.model) / "model.yaml";
  if (!fs::is_directory(flags.model.model, error) || !fs::exists(of_run, error)) return;
  if (flags.weights.empty()) flags.weights = flags.model.model;
  flags.model.model = of_run.string();
}

// Returns the model as far as the path, whose outputs are the predictions.
ModelSpec EndingWith(ModelSpec model, const std::string& path) {
  const auto found = std::ranges::find_if(
      model.paths, [&](const PathSpec& spec) { return spec.name.value == path; });
  if (found == model.paths.end()) {
    std::vector<std::string> names;
    for (const PathSpec& spec : model.paths) names.push_back(spec.name.value);
    throw InputError(model.file_name + " has no path '" + path + "'", SuggestName(path, names));
  }
  model.paths.erase(found + 1, model.paths.end());
  for (auto spec = model.paths.begin(); spec + 1 != model.paths.end(); ++spec) spec->out.clear();
  return model;
}

CompileOptions GraphOptionsOf(const ModelSpec& model) {
  CompileOptions options;
  options.precision = PrecisionOf(model);
  options.bf16_activations = model.train && model.train->precision.value == "bf16";
  return options;
}

// Finds what states become in a step, of those that predictions read. The graph of predictions does
// not have it, as predictions begin with zeros; that of evaluations does.
std::vector<ExportedState> StatesOf(const ModelSpec& model, const Graph& graph,
                                    Diagnostics& diagnostics) {
  std::vector<ExportedState> states;
  if (model.update.empty()) return states;
  const auto evaluation =
      BuildModelGraph(model, EntryKind::kEval, GraphOptionsOf(model), diagnostics);
  if (!evaluation) return states;
  const IdVector<ValueId, bool> needed = ExportedValues(graph, {});
  for (const StateUpdate& update : model.update) {
    const std::string& name = update.state.value;
    const ValueId state = graph.FindValue(StateName(name, EntryKind::kPredict));
    if (!state.valid() || !needed[state]) continue;
    const ValueId other = evaluation->FindValue(StateName(name, EntryKind::kEval));
    const auto edge = std::ranges::find(evaluation->updates, other, &UpdateEdge::state);
    const ValueId next = edge == evaluation->updates.end()
                             ? ValueId()
                             : graph.FindValue(evaluation->values[edge->next].name);
    if (next.valid()) {
      states.push_back({state, next, name, update.value.value});
      continue;
    }
    diagnostics.Error(update.value.mark,
                      "'" + update.value.value + "' is not computed by what is exported",
                      "the state '" + name + "' goes on with it; export a later path");
  }
  return states;
}

// The deviations of a table's columns, which weights keep if the table is standardized.
constexpr char kDeviations[] = "data.numbers.deviation";

// Returns what the weights keep of classes and data, without checksums.
std::vector<std::pair<std::string, std::string>> MetadataOf(const WeightsFile& weights) {
  constexpr const char* kKept[] = {"classes.", "data.names.", "data.numbers."};
  std::vector<std::pair<std::string, std::string>> kept;
  for (const auto& [key, value] : weights.metadata()) {
    if (std::ranges::any_of(kKept, [&](const char* begin) { return key.starts_with(begin); })) {
      kept.emplace_back(key, value);
    }
  }
  return kept;
}

// "image uint8[batch, 1, 28, 28]"
std::string TextOf(const onnx::ValueInfo& info) {
  std::vector<std::string> sizes;
  for (const onnx::Dimension& dim : info.type->tensor_type->shape->dims) {
    sizes.push_back(dim.dim_value ? std::to_string(*dim.dim_value) : dim.dim_param.value_or("?"));
  }
  return fmt::format("{} {}[{}]", info.name, onnx::NameOf(info.type->tensor_type->elem_type),
                     fmt::join(sizes, ", "));
}

bool IsInitializer(const onnx::Graph& graph, const std::string& name) {
  return std::ranges::find(graph.initializers, name, &onnx::Tensor::name) !=
         graph.initializers.end();
}

struct Ports {
  std::vector<std::string> inputs, outputs;
};

// Before IR version 4 weights are inputs, too; they stand behind the others.
Ports PortsOf(const onnx::Graph& graph) {
  Ports ports;
  for (const onnx::ValueInfo& info : graph.inputs) {
    if (IsInitializer(graph, info.name)) break;
    ports.inputs.push_back(TextOf(info));
  }
  for (const onnx::ValueInfo& info : graph.outputs) ports.outputs.push_back(TextOf(info));
  return ports;
}

void Report(const ExportedModel& exported, const std::string& path, const std::string& outside,
            int64_t elements) {
  const onnx::Graph& graph = *exported.model.graph;
  const Ports ports = PortsOf(graph);
  std::string text =
      path + ": " + CountText(std::ssize(graph.nodes), "node") + ", " + FormatCount(elements) +
      " weights" + (outside.empty() ? "" : " in " + outside) +
      fmt::format(", opset {}, IR version {}\n", exported.opset(), exported.model.ir_version);
  for (const std::string& input : ports.inputs) text += "input:  " + input + "\n";
  for (const std::string& output : ports.outputs) text += "output: " + output + "\n";
  nlohmann::ordered_json json = {{"model", path},
                                 {"nodes", graph.nodes.size()},
                                 {"weights", elements},
                                 {"external_data", nullptr},
                                 {"opset", exported.opset()},
                                 {"ir_version", exported.model.ir_version},
                                 {"inputs", ports.inputs},
                                 {"outputs", ports.outputs}};
  if (!outside.empty()) json["external_data"] = outside;
  PrintResult(text, JsonText(json, 2) + "\n");
}

void TellOfInputs(const ExportedModel& exported, const ExportOptions& options) {
  for (const std::string& name : exported.drawn) {
    Tell("note: '" + name + "' was drawn at random, and is an input now");
  }
  for (const ExportedState& state : options.states) {
    Tell("note: the state '" + state.input + "' is an input, and '" + state.output +
         "' is what it becomes: begin with zeros");
  }
  for (const auto& [key, value] : options.metadata) {
    if (key != kDeviations) continue;
    Tell(
        "note: the model reads standardized numbers, (x - mean) / deviation; its metadata "
        "'data.numbers.mean' and 'data.numbers.deviation' has those of the columns");
  }
}

int64_t ElementsOf(const onnx::Graph& graph) {
  int64_t elements = 0;
  for (const onnx::Tensor& tensor : graph.initializers) {
    if (tensor.raw_data) elements += Shape::Of(tensor.dims).Elements();
  }
  return elements;
}

int Export(const ExportFlags& flags, const ModelSpec& model, const std::string& output) {
  Diagnostics diagnostics;
  auto graph = BuildModelGraph(model, EntryKind::kPredict, GraphOptionsOf(model), diagnostics);
  ExportOptions options{.opset = flags.opset, .producer_version = std::string(kVersion)};
  if (graph) options.states = StatesOf(model, *graph, diagnostics);
  PrintBriefly(diagnostics);
  if (!graph || diagnostics.has_errors()) return kBadInput;
  if (flags.batch > 0) graph = BindBatch(*graph, flags.batch);
  const std::string file = ChooseWeights(model, flags.weights);
  WarnOfOtherNetwork(flags.model, model, file, WeightsUse::kPredict);
  WeightsFile weights(file,
                      [&](const std::string& tensor) { return Renamed(tensor, model.rename); });
  if (!CheckWeights(weights.Match(*graph, ExportedValues(*graph, options)), file, model)) {
    return kBadInput;
  }
  options.metadata = MetadataOf(weights);
  Diagnostics later;
  auto exported = ExportOnnx(*graph, weights, options, later);
  PrintBriefly(later);
  if (!exported) return kBadInput;
  const int64_t inline_bytes = InlineBytesOf(flags), elements = ElementsOf(*exported->model.graph);
  std::string outside;
  if (WeightBytes(exported->model) > inline_bytes) {
    outside = ExternalPathOf(output);
    RefuseExistingFile(flags, outside);
  }
  WriteExported(exported->model, output, inline_bytes);
  weights.CheckWhole();
  Tell("weights: " + WeightsText(file));
  TellOfInputs(*exported, options);
  Report(*exported, output, outside, elements);
  return kDone;
}

int Run(ExportFlags flags) {
  TakeRunFolder(flags);
  InlineBytesOf(flags);
  std::optional<ModelSpec> model = LoadModelOrProgram(flags.model);
  if (!model) return kBadInput;
  RefuseGroups(*model, "`cgrun export`");
  if (!flags.path.empty()) model = EndingWith(std::move(*model), flags.path);
  const std::string output = flags.output.empty() ? model->name.value + ".onnx" : flags.output;
  RefuseExistingFile(flags, output);
  std::error_code error;
  if (fs::equivalent(output, flags.model.model, error)) {
    throw InputError("'" + output + "' would be written over, but it is what is read",
                     "give another file: `-o other.onnx`");
  }
  return Export(flags, *model, output);
}

}  // namespace

Command DefineExport(const Verb& verb) {
  auto flags = std::make_shared<ExportFlags>();
  verb.Add("MODEL", flags->model.model, "model file (.yaml)").Required();
  TakeOnnx(verb, std::shared_ptr<ModelFlags>(flags, &flags->model),
           ", compiled program (.cgb), the folder of a run");
  verb.Add("-o,--output", flags->output, "the file to write (default: the model's name and .onnx)")
      .Value("M.onnx");
  verb.Add("--path", flags->path, "export what this path gives, not the last one").Value("NAME");
  verb.Add(
          "--weights", flags->weights,
          "the weights to export: a safetensors or .pth file, or a run folder, whose best model is "
          "taken, else its newest checkpoint (default: runs/<model>)")
      .Value("FILE");
  verb.Add("--batch", flags->batch, "a fixed number of samples in a batch (default: any number)")
      .Between(int64_t{1}, int64_t{1} << 30)
      .Value("N");
  verb.Add("--opset", flags->opset,
           "write this opset or a later one, whose operators are fewer and larger (default: the "
           "lowest that has all operators)")
      .Between(kLeastOpset, kMostOpset)
      .Value("N");
  verb.Add("--inline", flags->inline_size,
           "weights of more bytes lie in a file beside the model, M.onnx.data (default: 1GiB)")
      .Value("SIZE");
  verb.Add("--precision", flags->model.precision, "the number type of the computation")
      .Value("f32|f64|bf16");
  verb.Add("--set", flags->model.set, "override a key of the file: --set inputs.x.shape=[3]")
      .Value("KEY=VALUE")
      .Repeated();
  verb.AddSwitch("--force", flags->force, "replace files that exist");
  return [flags] { return Run(*flags); };
}

}  // namespace cgrun
