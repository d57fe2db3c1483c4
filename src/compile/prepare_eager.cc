// Eager mode gets graphs with kernels from a model the short way, without passes, order or plan.
#include <map>

#include "src/base/check.h"
#include "src/compile/analysis_count.h"
#include "src/compile/compile.h"
#include "src/compile/model_graph.h"
#include "src/select/select_plain.h"

namespace cgrun {
namespace {

std::optional<Graph> GraphBeforePasses(const ModelSpec& model, EntryKind kind,
                                       const CompileOptions& options, Diagnostics& diagnostics) {
  std::optional<Graph> graph = BuildModelGraph(model, kind, options, diagnostics);
  if (!graph) return std::nullopt;
  const std::vector<std::string> violations = VerifyGraph(*graph);
  CGRUN_CHECK(violations.empty()) << violations[0];
  return graph;
}

}  // namespace

std::optional<std::vector<EagerGraph>> PrepareEager(const ModelSpec& model,
                                                    const std::vector<EntryRequest>& entries,
                                                    const KernelLibrary& library,
                                                    const CompileOptions& options,
                                                    Diagnostics& diagnostics) {
  CountAnalysis();
  const TunedTarget target = TargetOf(library, options);
  std::vector<EagerGraph> prepared;
  std::map<EntryKind, Graph> graphs;  // entry points of one kind differ in their batch alone
  for (const EntryRequest& request : entries) {
    if (!graphs.contains(request.kind)) {
      auto graph = GraphBeforePasses(model, request.kind, options, diagnostics);
      if (!graph) return std::nullopt;
      graphs.emplace(request.kind, std::move(*graph));
    }
    prepared.push_back(
        {request, SelectPlainKernels(BindBatch(graphs.at(request.kind), request.batch), target,
                                     {options.threads}, diagnostics)});
    if (diagnostics.has_errors()) return std::nullopt;
  }
  return prepared;
}

}  // namespace cgrun
