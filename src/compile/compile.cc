// The pipeline, as the picture in docs/architecture.md draws it.
#include "src/compile/compile.h"

#include <chrono>
#include <map>

#include "src/base/check.h"
#include "src/compile/model_graph.h"
#include "src/compile/plan_entries.h"
#include "src/model/model_file.h"
#include "src/plan/update_legality.h"
#include "src/program/build_image.h"
#include "src/select/select.h"
#include "src/select/select_plain.h"

namespace cgrun {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A graph's nodes before these passes.
int NodesBefore(const Graph& graph, const std::vector<PassReport>& passes) {
  int nodes = static_cast<int>(graph.nodes.size());
  for (const PassReport& pass : passes) nodes += pass.nodes_removed;
  return nodes;
}

// Of passes that did not run yet.
std::vector<PassReport> ReportsOf(PassStage stage) {
  std::vector<PassReport> reports;
  for (const PipelineEntry& pass : Pipeline()) {
    if (pass.stage == stage) reports.push_back({std::string(pass.name)});
  }
  return reports;
}

// A bound graph with its kernels and an order. `layouts` is told what that pass did.
std::optional<CompiledEntry> PrepareEntry(const Graph& graph, const EntryRequest& request,
                                          const Target& target, const CompileOptions& options,
                                          Diagnostics& diagnostics, PassReport* layouts) {
  const SelectOptions select{options.threads};
  CompiledEntry entry{request, {}, {}};
  const bool plain = options.passes.Disabled(kLayoutsPass);
  const Clock::time_point start = Clock::now();
  entry.graph = (plain ? SelectPlainKernels : SelectKernels)(BindBatch(graph, request.batch),
                                                             target, select, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  if (!plain) {
    const int added = static_cast<int>(entry.graph.nodes.size() - graph.nodes.size());
    *layouts = {std::string(kLayoutsPass), 1, added != 0, -added, SecondsSince(start)};
  }
  if (LegalizeUpdates(entry.graph)) SelectMissingKernels(entry.graph, target, select, diagnostics);
  SetOrder(entry, options.order);
  return entry;
}

ProgramImage MakeImage(const ModelSpec& model, const CompiledModel& compiled,
                       const KernelLibrary& library, const CompileOptions& options) {
  std::vector<ImageSource> sources;
  for (const CompiledEntry& entry : compiled.entries) {
    sources.push_back({entry.request.name, entry.request.kind, entry.request.batch, &entry.graph,
                       &entry.schedule});
  }
  ProgramImage image = BuildImage(sources, compiled.layout);
  image.model = model.name.value;
  image.model_text = ToYaml(ResolvedTree(model));
  image.model_path = model.file_name;
  image.device = library.name();
  image.fingerprint = FingerprintOf(library, options);
  image.seed = compiled.entries[0].graph.seed;
  const std::vector<std::string> violations = VerifyImage(image);
  CGRUN_CHECK(violations.empty()) << "the program is not sound: " << violations[0];
  return image;
}

}  // namespace

std::string FingerprintOf(const KernelLibrary& library, const CompileOptions& options) {
  return library.fingerprint() + ", " + std::to_string(options.threads) +
         (options.threads == 1 ? " thread" : " threads");
}

std::optional<Graph> BuildGraph(const ModelSpec& model, EntryKind kind, const Target& target,
                                const CompileOptions& options, Diagnostics& diagnostics,
                                std::vector<PassReport>* reports, int64_t batch) {
  std::optional<Graph> graph = BuildModelGraph(model, kind, options, diagnostics);
  if (!graph) return std::nullopt;
  const PassContext context{target, model.inexact.value, nullptr, batch, options.threads};
  std::vector<PassReport> ran = RunPasses(*graph, context, options.passes);
  if (reports != nullptr) *reports = std::move(ran);
  return graph;
}

std::optional<CompiledModel> Compile(const ModelSpec& model,
                                     const std::vector<EntryRequest>& entries,
                                     const KernelLibrary& library, const CompileOptions& options,
                                     Diagnostics& diagnostics) {
  const Clock::time_point start = Clock::now();
  CompiledModel compiled;
  PassReport layouts{std::string(kLayoutsPass)}, of_others;
  std::map<EntryKind, Graph> graphs;  // entry points of one kind differ in their batch alone
  for (const EntryRequest& request : entries) {
    if (!graphs.contains(request.kind)) {
      auto graph = BuildGraph(model, request.kind, library, options, diagnostics,
                              graphs.empty() ? &compiled.passes : nullptr, request.batch);
      if (!graph) return std::nullopt;
      graphs.emplace(request.kind, std::move(*graph));
    }
    const Graph& graph = graphs.at(request.kind);
    const bool first = compiled.entries.empty();
    if (first) compiled.nodes_before_passes = NodesBefore(graph, compiled.passes);
    auto entry =
        PrepareEntry(graph, request, library, options, diagnostics, first ? &layouts : &of_others);
    if (!entry) return std::nullopt;
    compiled.entries.push_back(std::move(*entry));
  }
  compiled.passes.push_back(layouts);
  std::vector<PassReport> planned = ReportsOf(PassStage::kPlanned);
  compiled.layout = PlanEntries(compiled.entries, library, options, planned);
  compiled.passes.insert(compiled.passes.end(), planned.begin(), planned.end());
  compiled.image = MakeImage(model, compiled, library, options);
  compiled.compile_seconds = SecondsSince(start);
  return compiled;
}

}  // namespace cgrun
