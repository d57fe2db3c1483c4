// Sums over the rounds of a plan.
#include "src/budget/planned_reports.h"

#include "src/budget/single_threaded.h"
#include "src/passes/decisions.h"

namespace cgrun {

std::vector<PassReport> PlannedReports() {
  std::vector<PassReport> reports;
  for (const PipelineEntry& pass : Pipeline()) {
    if (pass.stage == PassStage::kPlanned) reports.push_back({std::string(pass.name)});
  }
  for (const Decision& decision : Decisions()) {
    if (decision.phase == DecisionPhase::kPlan) reports.push_back({std::string(decision.name)});
  }
  return reports;
}

void AddUp(const std::vector<PassReport>& more, std::vector<PassReport>& reports) {
  for (size_t i = 0; i < more.size(); ++i) {
    reports[i].rounds += more[i].rounds;
    reports[i].changed_rounds += more[i].changed_rounds;
    reports[i].nodes_removed += more[i].nodes_removed;
    reports[i].seconds += more[i].seconds;
  }
}

void TellOfWorkspaces(const Graph& graph, std::vector<PassReport>& reports) {
  for (PassReport& pass : reports) {
    if (pass.name != kSmallerWorkspacesDecision) continue;
    pass.rounds += 1;
    pass.changed_rounds += CountSingleThreaded(graph) > 0;
  }
}

void AddNodes(std::vector<PassReport>& reports, std::string_view name, int added, double seconds) {
  for (PassReport& pass : reports) {
    if (pass.name != name) continue;
    pass.rounds += 1;
    pass.changed_rounds += added > 0;
    pass.nodes_removed -= added;
    pass.seconds += seconds;
  }
}

}  // namespace cgrun
