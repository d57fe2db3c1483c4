// Finds the passes that change nothing. If a pass reports all its changes, the report decides. For
// the others, the programs with and without the pass are compared.
#include "src/bench/idle_passes.h"

#include <algorithm>

#include "src/passes/decisions.h"
#include "src/program/serialize.h"

namespace cgrun {
namespace {

// Returns whether the reports of a pass are complete. A pass over the graph reports each change. A
// choice of kernels or layouts reports only the nodes that it changed directly. A search for values
// to recompute can end in another order, which no report tells.
bool ReportsAll(std::string_view name) {
  const auto pass = std::ranges::find(Pipeline(), name, &PipelineEntry::name);
  if (pass != Pipeline().end()) return pass->stage == PassStage::kGraph;
  const auto decision = std::ranges::find(Decisions(), name, &Decision::name);
  return decision->phase == DecisionPhase::kPlan;
}

bool IsKnownToBeIdle(std::string_view name, const std::vector<PassReport>& reports) {
  const auto report = std::ranges::find(reports, name, &PassReport::name);
  if (report == reports.end() || report->rounds == 0) return true;  // it did not run
  return ReportsAll(name) && report->changed_rounds == 0;
}

}  // namespace

std::vector<std::string> FindIdlePasses(const ModelSpec& model, const EntryRequest& entry,
                                        const KernelLibrary& library,
                                        const CompileOptions& options) {
  Diagnostics diagnostics;
  const auto with_all = Compile(model, {entry}, library, options, diagnostics);
  if (!with_all) return {};
  const std::string program = SerializeImage(with_all->image);
  std::vector<std::string> idle;
  for (const std::string& name : PassAndDecisionNames()) {
    bool is_idle = IsKnownToBeIdle(name, with_all->passes);
    if (!is_idle) {
      CompileOptions without = options;
      without.passes.disabled.push_back(name);
      Diagnostics of_pass;
      const auto compiled = Compile(model, {entry}, library, without, of_pass);
      is_idle = compiled && SerializeImage(compiled->image) == program;
    }
    if (is_idle) idle.push_back(name);
  }
  return idle;
}

}  // namespace cgrun
