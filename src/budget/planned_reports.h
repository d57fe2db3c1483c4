// The reports of the passes that a plan decides on, while it goes from try to try.
#ifndef CGRUN_BUDGET_PLANNED_REPORTS_H_
#define CGRUN_BUDGET_PLANNED_REPORTS_H_

#include <string_view>
#include <vector>

#include "src/ir/graph.h"
#include "src/passes/pipeline.h"

namespace cgrun {

// The reports of passes that run within planning, and of the choice of orders, all empty.
std::vector<PassReport> PlannedReports();

// Adds what the passes did in another round. Both are of the same passes.
void AddUp(const std::vector<PassReport>& more, std::vector<PassReport>& reports);

// Notes that a pass has run, and how many nodes it has added.
void AddNodes(std::vector<PassReport>& reports, std::string_view name, int added, double seconds);

// Notes whether nodes of the graph are single-threaded for smaller workspaces.
void TellOfWorkspaces(const Graph& graph, std::vector<PassReport>& reports);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_PLANNED_REPORTS_H_
