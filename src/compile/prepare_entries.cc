// PrepareEntries: passes once for each kind of entry point, kernels and an order for each batch.
#include "src/compile/prepare_entries.h"

#include <chrono>
#include <map>

#include "src/compile/plan_entries.h"
#include "src/plan/update_legality.h"
#include "src/select/select.h"
#include "src/select/select_plain.h"

namespace cgrun {
namespace {

using Clock = std::chrono::steady_clock;

// A graph's nodes before these passes.
int NodesBefore(const Graph& graph, const std::vector<PassReport>& passes) {
  int nodes = static_cast<int>(graph.nodes.size());
  for (const PassReport& pass : passes) nodes += pass.nodes_removed;
  return nodes;
}

// Lets state lie as the kernels of `selected`, which `bound` has become, want it, if that takes
// less time.
void LayState(const Graph& bound, const Target& target, SelectOptions& select, Graph& selected) {
  SelectOptions wanted = select;
  wanted.state_layouts = LayoutsOfState(selected);
  if (wanted.state_layouts.empty()) return;
  Diagnostics ignored;
  Graph laid = SelectKernels(bound, target, wanted, ignored);
  if (ignored.has_errors() || SecondsOfKernels(laid) >= SecondsOfKernels(selected)) return;
  selected = std::move(laid);
  select = std::move(wanted);
}

// A bound graph with its kernels and an order. `layouts` is told what that pass did, and `select`
// what state is to lie like in all entry points, where this is the first.
std::optional<CompiledEntry> PrepareEntry(const Graph& graph, const EntryRequest& request,
                                          const Target& target, const CompileOptions& options,
                                          SelectOptions& select, bool first,
                                          Diagnostics& diagnostics, PassReport* layouts) {
  CompiledEntry entry{request, {}, {}};
  const bool plain = options.passes.Disabled(kLayoutsPass);
  const Clock::time_point start = Clock::now();
  const Graph bound = BindBatch(graph, request.batch);
  entry.graph = (plain ? SelectPlainKernels : SelectKernels)(bound, target, select, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  if (first && !plain) LayState(bound, target, select, entry.graph);
  if (!plain) {
    const int added = static_cast<int>(entry.graph.nodes.size() - graph.nodes.size());
    *layouts = {std::string(kLayoutsPass), 1, added != 0, -added,
                std::chrono::duration<double>(Clock::now() - start).count()};
  }
  if (LegalizeUpdates(entry.graph)) SelectMissingKernels(entry.graph, target, select, diagnostics);
  SetOrder(entry, options.order);
  return entry;
}

}  // namespace

std::optional<CompiledModel> PrepareEntries(const ModelSpec& model,
                                            const std::vector<EntryRequest>& entries,
                                            const Target& target, const CompileOptions& options,
                                            Diagnostics& diagnostics) {
  CompiledModel compiled;
  PassReport layouts{std::string(kLayoutsPass)}, of_others;
  SelectOptions select{options.threads};
  std::map<EntryKind, Graph> graphs;  // entry points of one kind differ in their batch alone
  for (const EntryRequest& request : entries) {
    if (!graphs.contains(request.kind)) {
      auto graph = BuildGraph(model, request.kind, target, options, diagnostics,
                              graphs.empty() ? &compiled.passes : nullptr, request.batch);
      if (!graph) return std::nullopt;
      graphs.emplace(request.kind, std::move(*graph));
    }
    const Graph& graph = graphs.at(request.kind);
    const bool first = compiled.entries.empty();
    if (first) compiled.nodes_before_passes = NodesBefore(graph, compiled.passes);
    auto entry = PrepareEntry(graph, request, target, options, select, first, diagnostics,
                              first ? &layouts : &of_others);
    if (!entry) return std::nullopt;
    compiled.entries.push_back(std::move(*entry));
  }
  compiled.passes.push_back(layouts);
  return compiled;
}

}  // namespace cgrun
