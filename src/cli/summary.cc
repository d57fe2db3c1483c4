// Runs `cgrun summary`, which lists a model by layer.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "src/base/json_text.h"
#include "src/check/lint.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/model_flags.h"
#include "src/frontend/frontend.h"
#include "src/ir/op_def.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

struct Layer {
  std::string name;
  std::string op;
  std::string output;  // type with N
  int64_t parameters = 0;
  int64_t trained = 0;  // of these
  int64_t flops = 0;    // a sample's
  int64_t bytes = 0;    // of the outputs, for a sample
};

// Returns the names of the parameters that a training run changes; all where the model says nothing
// of training.
std::set<std::string> TrainedNames(const ModelSpec& model, DType precision, const Graph& forward) {
  Diagnostics ignored;  // the verb reports them
  std::set<std::string> names;
  std::optional<Graph> training;
  if (model.train) training = BuildForward(model, {EntryKind::kTrain, precision}, ignored);
  if (!training) {
    for (const auto& [id, info] : forward.parameters) names.insert(forward.values[id].name);
    return names;
  }
  for (const Path& path : training->paths) {
    for (const ValueId id : path.trains) names.insert(training->values[id].name);
  }
  return names;
}

// The layers of a forward graph, in order. A parameter that several layers share counts once.
std::vector<Layer> LayersOf(const Graph& graph, const std::set<std::string>& trained) {
  const Graph one = BindBatch(graph, 1);
  std::map<ValueId, bool> counted;
  std::vector<Layer> layers;
  for (NodeId id : TopologicalOrder(graph)) {
    const Node& node = graph.nodes[id];
    const Value& output = graph.values[node.outputs[0]];
    Layer layer{node.name, std::string(NameOf(node.op)), output.type.ToString(), 0, 0, 0, 0};
    for (ValueId input : node.inputs) {
      const bool parameter = graph.values[input].role == Role::kParameter;
      if (!parameter || counted[input]) continue;
      counted[input] = true;
      const int64_t elements = graph.values[input].type.shape.Elements();
      layer.parameters += elements;
      if (trained.contains(graph.values[input].name)) layer.trained += elements;
    }
    layer.flops = CostOf(SignatureOf(one, one.nodes[id])).flops;
    if (!GetOpDef(node.op).view) {
      for (ValueId value : node.outputs) layer.bytes += one.BytesOf(value);
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

// Says in a column how many parameters are trained, where not all are.
std::string Text(const Graph& graph, const std::vector<Layer>& layers) {
  Layer total;
  for (const Layer& layer : layers) {
    total.parameters += layer.parameters;
    total.trained += layer.trained;
    total.flops += layer.flops;
    total.bytes += layer.bytes;
  }
  const bool has_frozen = total.trained < total.parameters;
  const auto row = [&](std::vector<std::string> cells) {
    if (!has_frozen) cells.erase(cells.begin() + 4);
    return cells;
  };
  std::vector<Align> columns(has_frozen ? 7 : 6, Align::kRight);
  std::fill_n(columns.begin(), 3, Align::kLeft);
  TextTable table(columns);
  table.Add(row({"layer", "operator", "output", "parameters", "trained", "FLOPs", "bytes"}));
  table.AddRule();
  const auto add = [&](const Layer& layer) {
    table.Add(row({layer.name, layer.op, layer.output, FormatCount(layer.parameters),
                   FormatCount(layer.trained), FormatSi(static_cast<double>(layer.flops)),
                   FormatBytes(layer.bytes)}));
  };
  for (const Layer& layer : layers) add(layer);
  table.AddRule();
  total.name = "total";
  add(total);
  return graph.name + ", forward; FLOPs and bytes of outputs are a sample's\n\n" +
         table.ToString("  ");
}

nlohmann::ordered_json JsonOf(const Graph& graph, const std::vector<Layer>& layers) {
  nlohmann::ordered_json json = {{"model", graph.name}};
  for (const Layer& layer : layers) {
    json["layers"].push_back({{"name", layer.name},
                              {"op", layer.op},
                              {"output", layer.output},
                              {"parameters", layer.parameters},
                              {"trained", layer.trained},
                              {"flops", layer.flops},
                              {"bytes", layer.bytes}});
  }
  return json;
}

int Run(const ModelFlags& flags) {
  const std::optional<ModelSpec> model = LoadModelOrProgram(flags);
  if (!model) return kBadInput;
  Diagnostics diagnostics;
  const CompileOptions options = CompileOptionsOf(flags, *model);
  const auto graph = BuildForward(*model, {EntryKind::kEval, options.precision}, diagnostics);
  LintOptimizers(*model, options.precision, diagnostics);
  PrintDiagnostics(diagnostics);
  if (!graph || diagnostics.has_errors()) return kBadInput;
  const std::vector<Layer> layers =
      LayersOf(*graph, TrainedNames(*model, options.precision, *graph));
  PrintResult(Text(*graph, layers), JsonText(JsonOf(*graph, layers), 2) + "\n");
  return kDone;
}

}  // namespace

Command DefineSummary(const Verb& verb) {
  auto flags = AddModelFlags(verb, CapFlag::kNone);
  TakeOnnx(verb, flags, ", compiled program (.cgb)");
  return [flags] { return Run(*flags); };
}

}  // namespace cgrun
