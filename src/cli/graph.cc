// cgrun graph: the graph of a model after differentiation and passes, as text.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/model_flags.h"
#include "src/ir/op_def.h"

namespace cgrun {
namespace {

nlohmann::ordered_json JsonOf(const Graph& graph) {
  nlohmann::ordered_json json = {{"model", graph.name}};
  for (const Value& value : graph.values) {
    json["values"].push_back({{"name", value.name},
                              {"type", value.type.ToString()},
                              {"role", Name(value.role)},
                              {"zone", Name(value.zone)}});
  }
  for (NodeId id : TopologicalOrder(graph)) {
    const Node& node = graph.nodes[id];
    nlohmann::ordered_json inputs = nlohmann::ordered_json::array();
    nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
    for (ValueId value : node.inputs) inputs.push_back(graph.values[value].name);
    for (ValueId value : node.outputs) outputs.push_back(graph.values[value].name);
    json["nodes"].push_back({{"name", node.name},
                             {"op", NameOf(node.op)},
                             {"phase", Name(node.phase)},
                             {"attributes", node.attributes.ToString()},
                             {"inputs", inputs},
                             {"outputs", outputs}});
  }
  return json;
}

int Run(const ModelFlags& flags, const std::string& entry) {
  const std::optional<ModelSpec> model = LoadModel(flags);
  if (!model) return kBadInput;
  const EntryKind kind = entry == "train"  ? EntryKind::kTrain
                         : entry == "eval" ? EntryKind::kEval
                                           : EntryKind::kPredict;
  const KernelLibrary& library = KernelsOf(*model);
  Diagnostics diagnostics;
  const auto graph = BuildGraph(*model, kind, library, CompileOptionsOf(flags, *model), diagnostics,
                                nullptr, model->train ? model->train->batch.value.size : 1);
  PrintDiagnostics(diagnostics);
  if (!graph) return kBadInput;
  PrintResult(ToString(*graph), JsonOf(*graph).dump(2) + "\n");
  return kDone;
}

}  // namespace

Command DefineGraph(CLI::App& app) {
  auto flags = AddModelFlags(app);
  auto entry = std::make_shared<std::string>("train");
  app.add_option("--entry", *entry, "which graph of the model (default: train)")
      ->check(CLI::IsMember({"train", "eval", "predict"}))
      ->type_name("train|eval|predict");
  return [flags, entry] { return Run(*flags, *entry); };
}

}  // namespace cgrun
