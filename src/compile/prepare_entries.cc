// PrepareEntries runs the passes for each kind of entry point, and finds kernels and an order for
// each batch.
#include "src/compile/prepare_entries.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "src/base/phase_times.h"
#include "src/budget/plan_once.h"
#include "src/ir/op_def.h"
#include "src/passes/decisions.h"
#include "src/plan/update_legality.h"
#include "src/select/remembering_target.h"
#include "src/select/select.h"
#include "src/select/select_plain.h"

namespace cgrun {
namespace {

using Clock = std::chrono::steady_clock;

// Returns the number of nodes that a graph had before these passes.
int NodesBefore(const Graph& graph, const std::vector<PassReport>& passes) {
  int nodes = static_cast<int>(graph.nodes.size());
  for (const PassReport& pass : passes) nodes += pass.nodes_removed;
  return nodes;
}

// Returns whether what passes have made one node has a kernel at this batch: they ask at another
// one's.
bool HasKernelsOfFused(const Graph& bound, const Target& target, int threads) {
  const RunSetting setting{threads, {}, bound.Learns()};
  return std::ranges::all_of(bound.nodes, [&](const Node& node) {
    return node.op != OpId::fused || !target.Options(SignatureOf(bound, node), setting).empty();
  });
}

// A bound graph with its kernels and an order. `layouts` is told what that pass did.
std::optional<CompiledEntry> PrepareEntry(const Graph& graph, const EntryRequest& request,
                                          const Target& target, const CompileOptions& options,
                                          const SelectOptions& select, Diagnostics& diagnostics,
                                          PassReport* layouts) {
  CompiledEntry entry{request, {}, {}};
  const bool plain = options.passes.Disabled(kLayoutsDecision);
  const Clock::time_point start = Clock::now();
  {
    const PhaseTimer timer("select");
    Graph bound = BindBatch(graph, request.batch);
    entry.graph = plain ? SelectPlainKernels(std::move(bound), target, select, diagnostics)
                        : SelectKernels(bound, target, select, diagnostics);
  }
  if (diagnostics.has_errors()) return std::nullopt;
  if (!plain) {
    const int added = static_cast<int>(entry.graph.nodes.size() - graph.nodes.size());
    *layouts = {std::string(kLayoutsDecision), 1, added != 0, -added,
                std::chrono::duration<double>(Clock::now() - start).count()};
  }
  {
    const PhaseTimer timer("legalize updates");
    const bool copies = LegalizeUpdates(entry.graph);
    if (copies) SelectMissingKernels(entry.graph, target, select, diagnostics);
  }
  SetOrder(entry, options.order);
  return entry;
}

}  // namespace

std::optional<CompiledModel> PrepareEntries(const ModelSpec& model,
                                            const std::vector<EntryRequest>& entries,
                                            const Target& asked, const CompileOptions& options,
                                            Diagnostics& diagnostics) {
  const RememberingTarget target(asked);
  CompiledModel compiled;
  PassReport layouts{std::string(kLayoutsDecision)}, of_others;
  SelectOptions select{options.threads};
  std::map<EntryKind, Graph> graphs;  // entry points of one kind mostly differ in their batch alone
  for (const EntryRequest& request : entries) {
    const auto found = graphs.find(request.kind);
    if (found == graphs.end() ||
        !HasKernelsOfFused(BindBatch(found->second, request.batch), target, options.threads)) {
      auto graph = BuildGraph(model, request.kind, target, options, diagnostics,
                              graphs.empty() ? &compiled.passes : nullptr, request.batch);
      if (!graph) return std::nullopt;
      graphs.insert_or_assign(request.kind, std::move(*graph));
    }
    const Graph& graph = graphs.at(request.kind);
    const bool first = compiled.entries.empty();
    if (first) {
      compiled.nodes_before_passes = NodesBefore(graph, compiled.passes);
      if (!options.passes.Disabled(kLayoutsDecision)) {
        const PhaseTimer timer("select");
        select.state_layouts = ChooseStateLayouts(BindBatch(graph, request.batch), target, select);
      }
    }
    auto entry = PrepareEntry(graph, request, target, options, select, diagnostics,
                              first ? &layouts : &of_others);
    if (!entry) return std::nullopt;
    compiled.entries.push_back(std::move(*entry));
  }
  compiled.passes.push_back(layouts);
  return compiled;
}

}  // namespace cgrun
