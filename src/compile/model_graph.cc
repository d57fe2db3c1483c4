// This file makes a differentiated graph from a model file.
#include "src/compile/model_graph.h"

#include "src/autodiff/autodiff.h"
#include "src/autodiff/mixed_precision.h"
#include "src/base/phase_times.h"
#include "src/frontend/frontend.h"
#include "src/ops/initial_file.h"

namespace cgrun {
namespace {

AutodiffOptions AutodiffOptionsOf(const ModelSpec& model, EntryKind kind,
                                  const CompileOptions& options) {
  AutodiffOptions autodiff;
  autodiff.processes = options.processes;
  autodiff.updates = kind == EntryKind::kTrain;
  if (!model.train) return autodiff;
  autodiff.accumulates = model.train->accumulate.value > 1;
  if (const auto& clip = model.train->clip) {
    if (clip->norm) autodiff.clip_norm = clip->norm->value;
    if (clip->value) autodiff.clip_value = clip->value->value;
  }
  return autodiff;
}

// A backprop path of a step whose loss changes no parameter.
void WarnOfIdlePaths(const ModelSpec& model, const Graph& graph, Diagnostics& diagnostics) {
  for (const PathSpec& spec : model.paths) {
    bool runs = false, has_parameters = false, learns = false;
    for (const Path& path : graph.paths) {
      if (path.name != spec.name.value || !path.backprop) continue;
      runs = true;
      has_parameters |= !path.trains.empty();
    }
    for (const Node& node : graph.nodes) {
      learns |= node.phase == Phase::kUpdate && node.path.valid() &&
                graph.paths[node.path].name == spec.name.value;
    }
    if (!runs || learns) continue;
    diagnostics.Warning(
        spec.mark, "path '" + spec.name.value + "' learns nothing",
        has_parameters ? "its loss gives none of its parameters a gradient"
        : spec.trains.empty()
            ? "it has no parameters, or all are frozen; `mode: forward` says that this is meant"
            : "what `trains` names has no parameters that it uses, or all are frozen");
  }
}

}  // namespace

std::optional<Graph> BuildModelGraph(const ModelSpec& model, EntryKind kind,
                                     const CompileOptions& options, Diagnostics& diagnostics) {
  const bool learns = kind == EntryKind::kTrain || kind == EntryKind::kAccumulate;
  const FrontendOptions frontend{learns ? EntryKind::kTrain : kind, options.precision};
  const bool keeps = kind == options.keeps;
  Kept kept;
  std::optional<Graph> graph;
  {
    const PhaseTimer timer("front end");
    graph = BuildForward(model, frontend, diagnostics, keeps ? &kept : nullptr);
  }
  if (graph) CheckInitialFiles(*graph, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  if (options.bf16_activations) graph = KeepActivationsInBF16(std::move(*graph));
  AutodiffOptions autodiff = AutodiffOptionsOf(model, kind, options);
  for (Kept::Item& item : kept.gradients) {
    if (learns) autodiff.keep.push_back({item.value, item.name, item.mark, item.path});
    if (!learns) {
      diagnostics.Warning(item.mark, item.name + " is not kept: there are no gradients here",
                          "`cgrun train` has them");
    }
  }
  if (!learns) return graph;
  const PhaseTimer timer("autodiff");
  Graph differentiated = Differentiate(std::move(*graph), autodiff, &diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  if (kind == EntryKind::kTrain && model.train) {
    WarnOfIdlePaths(model, differentiated, diagnostics);
  }
  return differentiated;
}

}  // namespace cgrun
