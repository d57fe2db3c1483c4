// Runs `cgrun graph`, which shows the graph of a model after differentiation and passes, as text or
// as a picture.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <ranges>
#include <span>

#include "src/base/json_text.h"
#include "src/cli/body_json.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/model_flags.h"
#include "src/cli/program_argument.h"
#include "src/ir/op_def.h"
#include "src/program/image_layout.h"
#include "src/report/graph_dot.h"
#include "src/report/graph_svg.h"
#include "src/report/table.h"
#include "src/report/terminal.h"

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
    if (!node.body.empty()) json["nodes"].back()["body"] = BodyJson(node.body);
  }
  return json;
}

struct GraphFlags {
  std::string entry;  // "": chosen by EntryFor()
  bool full = false;
  std::optional<Flag> svg, dot;  // set by DefineGraph()
  std::string svg_file;          // "" and "-": standard output
  std::string dot_file;
};

bool IsGiven(const std::optional<Flag>& flag) { return flag && flag->given(); }

EntryKind KindOf(const std::string& entry) {
  if (entry == "train") return EntryKind::kTrain;
  return entry == "eval" ? EntryKind::kEval : EntryKind::kPredict;
}

int64_t BatchOf(const ModelSpec& model) { return model.train ? model.train->batch.value.size : 1; }

int PrintListing(const ModelFlags& flags, const GraphFlags& graph_flags, const ModelSpec& model) {
  Diagnostics diagnostics;
  const CompileOptions options = CompileOptionsOf(flags, model);
  const auto graph =
      BuildGraph(model, KindOf(graph_flags.entry), TargetOf(KernelsOf(model), options), options,
                 diagnostics, nullptr, BatchOf(model));
  PrintDiagnostics(diagnostics);
  if (!graph) return kBadInput;
  PrintResult(ToString(*graph), JsonText(JsonOf(*graph), 2) + "\n");
  return kDone;
}

PictureOptions OptionsOf(const GraphFlags& graph_flags, const ModelSpec& model,
                         const CompiledModel& compiled, const std::string& order) {
  const MemoryLayout& layout = compiled.layout;
  PictureOptions options;
  options.full = graph_flags.full;
  options.title = model.name.value + ", " + graph_flags.entry;
  options.notes = {
      "batch " + FormatCount(BatchOf(model)) + " on " + std::string(KernelsOf(model).name()) +
          ", order " + order + ": " +
          CountText(static_cast<int64_t>(compiled.entries[0].graph.nodes.size()), "operator"),
      "arena " + FormatBytes(layout.arena_bytes) + ": " + FormatBytes(layout.persistent_bytes) +
          " persistent, " + FormatBytes(layout.transient_bytes) +
          " transient, which all zones share; lower bound " +
          FormatBytes(layout.lower_bound_bytes) + (layout.optimal ? " (optimal)" : "")};
  return options;
}

void WritePicture(const std::optional<Flag>& flag, const std::string& path,
                  const std::string& picture) {
  if (!IsGiven(flag)) return;
  if (path.empty() || path == "-") {
    PrintText(stdout, picture);
  } else {
    WriteBeside(path, picture);
  }
}

// Pictures show where values lie, so that they need a plan.
int DrawPictures(const ModelFlags& flags, const GraphFlags& graph_flags, const ModelSpec& model) {
  const CompileOptions options = CompileOptionsOf(flags, model);
  Diagnostics diagnostics;
  const auto compiled =
      Compile(model, {{graph_flags.entry, KindOf(graph_flags.entry), BatchOf(model)}},
              KernelsOf(model), options, diagnostics);
  PrintDiagnostics(diagnostics);
  if (!compiled) return kBadInput;
  const GraphPicture picture = PictureOf(compiled->entries[0].graph, compiled->layout, 0,
                                         OptionsOf(graph_flags, model, *compiled, options.order));
  WritePicture(graph_flags.svg, graph_flags.svg_file, GraphSvg(picture));
  WritePicture(graph_flags.dot, graph_flags.dot_file, GraphDot(picture));
  return kDone;
}

bool IsPicture(const GraphFlags& flags) { return IsGiven(flags.svg) || IsGiven(flags.dot); }

// Two of them cannot share standard output.
void CheckTargets(const GraphFlags& flags) {
  const auto to_stdout = [](const std::optional<Flag>& flag, const std::string& file) {
    return IsGiven(flag) && (file.empty() || file == "-");
  };
  const bool svg = to_stdout(flags.svg, flags.svg_file);
  const bool dot = to_stdout(flags.dot, flags.dot_file);
  if (svg && dot) {
    throw InputError("--svg and --dot would both write to standard output",
                     "name a file for one of them: `--svg graph.svg`");
  }
  const bool picture = IsPicture(flags);
  if (picture && WantsJson()) {
    throw InputError("--json is the listing as JSON, which a picture does not have",
                     "leave out --json, or --svg and --dot");
  }
  if (flags.full && !picture) {
    throw InputError("--full is for pictures: the listing has every operator",
                     "for example --svg graph.svg --full");
  }
}

// "train, train.5, eval"
std::string EntriesOf(const ProgramImage& image) {
  const auto names = image.entries | std::views::transform(&ImageEntry::name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// The graph of a compiled program is told from its byte code: no kernels are needed, and nothing is
// compiled.
// The entry point that is shown where none is asked for.
std::string EntryFor(bool trains) { return trains ? "train" : "predict"; }

int RunProgram(const ModelFlags& flags, GraphFlags graph_flags) {
  const ProgramImage image = LoadProgram(flags.model);
  if (graph_flags.entry.empty()) {
    graph_flags.entry =
        EntryFor(std::ranges::count(image.entries, EntryKind::kTrain, &ImageEntry::kind) > 0);
  }
  const EntryKind kind = KindOf(graph_flags.entry);
  const auto entry = std::ranges::find(image.entries, kind, &ImageEntry::kind);
  if (entry == image.entries.end()) {
    throw InputError("'" + flags.model + "' has no entry point '" + graph_flags.entry + "'",
                     "its entry points are " + EntriesOf(image) +
                         ": `--entry train`, `eval` or `predict` takes the first of its kind");
  }
  const Graph graph = GraphOf(image, *entry);
  if (!IsPicture(graph_flags)) {
    PrintResult(ToString(graph), JsonText(JsonOf(graph), 2) + "\n");
    return kDone;
  }
  const MemoryLayout layout = LayoutOf(image);
  PictureOptions options;
  options.full = graph_flags.full;
  options.title = image.model + ", " + entry->name;
  options.notes = {flags.model + ": batch " + FormatCount(entry->batch) + " on " + image.device +
                       ", " + CountText(std::ssize(entry->instructions), "operator"),
                   "arena " + FormatBytes(layout.arena_bytes) + ": " +
                       FormatBytes(layout.persistent_bytes) + " persistent, " +
                       FormatBytes(layout.transient_bytes) + " transient"};
  const GraphPicture picture =
      PictureOf(graph, layout, static_cast<int>(entry - image.entries.begin()), options);
  WritePicture(graph_flags.svg, graph_flags.svg_file, GraphSvg(picture));
  WritePicture(graph_flags.dot, graph_flags.dot_file, GraphDot(picture));
  return kDone;
}

int Run(const Verb& verb, const ModelFlags& flags, GraphFlags graph_flags) {
  CheckTargets(graph_flags);
  if (IsProgramFile(flags.model)) {
    RefuseFlagsOfModels(verb, "a compiled program",
                        "a program is shown as it was compiled; show the graph of its model file");
    return RunProgram(flags, std::move(graph_flags));
  }
  const std::optional<ModelSpec> model = LoadModel(flags);
  if (!model) return kBadInput;
  if (graph_flags.entry.empty()) graph_flags.entry = EntryFor(model->train.has_value());
  return IsPicture(graph_flags) ? DrawPictures(flags, graph_flags, *model)
                                : PrintListing(flags, graph_flags, *model);
}

}  // namespace

Command DefineGraph(const Verb& verb) {
  auto flags = AddModelFlags(verb, CapFlag::kNone);
  auto graph_flags = std::make_shared<GraphFlags>();
  TakeOnnx(verb, flags, ", compiled program (.cgb)");
  verb.Add("--entry", graph_flags->entry,
           "the graph of the model to show (default: train; predict where nothing is trained)")
      .OneOf({"train", "eval", "predict"});
  graph_flags->svg =
      verb.Add("--svg", graph_flags->svg_file,
               "draw a picture instead of text, coloured by buffer, to FILE or standard output")
          .OptionalValue()
          .Value("[FILE]");
  graph_flags->dot = verb.Add("--dot", graph_flags->dot_file, "write the same picture for Graphviz")
                         .OptionalValue()
                         .Value("[FILE]");
  verb.AddSwitch("--full", graph_flags->full, "fold no blocks in a picture, however large it is");
  return [verb, flags, graph_flags] { return Run(verb, *flags, *graph_flags); };
}

}  // namespace cgrun
