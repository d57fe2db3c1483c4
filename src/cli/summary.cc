// Runs `cgrun summary`, which lists a model by layer.
#include <map>
#include <nlohmann/json.hpp>

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
  int64_t flops = 0;  // a sample's
  int64_t bytes = 0;  // of the outputs, for a sample
};

// The layers of a forward graph, in order. A parameter that several layers share counts once.
std::vector<Layer> LayersOf(const Graph& graph) {
  const Graph one = BindBatch(graph, 1);
  std::map<ValueId, bool> counted;
  std::vector<Layer> layers;
  for (NodeId id : TopologicalOrder(graph)) {
    const Node& node = graph.nodes[id];
    const Value& output = graph.values[node.outputs[0]];
    Layer layer{node.name, std::string(NameOf(node.op)), output.type.ToString(), 0, 0, 0};
    for (ValueId input : node.inputs) {
      const bool parameter = graph.values[input].role == Role::kParameter;
      if (!parameter || counted[input]) continue;
      counted[input] = true;
      layer.parameters += graph.values[input].type.shape.Elements();
    }
    layer.flops = CostOf(SignatureOf(one, one.nodes[id])).flops;
    if (!GetOpDef(node.op).view) {
      for (ValueId value : node.outputs) layer.bytes += one.BytesOf(value);
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

std::string Text(const Graph& graph, const std::vector<Layer>& layers) {
  TextTable table(
      {Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"layer", "operator", "output", "parameters", "FLOPs", "bytes"});
  table.AddRule();
  Layer total;
  for (const Layer& layer : layers) {
    table.Add({layer.name, layer.op, layer.output, FormatCount(layer.parameters),
               FormatSi(static_cast<double>(layer.flops)), FormatBytes(layer.bytes)});
    total.parameters += layer.parameters;
    total.flops += layer.flops;
    total.bytes += layer.bytes;
  }
  table.AddRule();
  table.Add({"total", "", "", FormatCount(total.parameters),
             FormatSi(static_cast<double>(total.flops)), FormatBytes(total.bytes)});
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
  const std::vector<Layer> layers = LayersOf(*graph);
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
