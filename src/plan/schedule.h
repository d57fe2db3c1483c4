// Schedules: an order of a graph's nodes, apart from the graph. Every order respects the data, and
// that a state is overwritten only after its last reader.
#ifndef CGRUN_PLAN_SCHEDULE_H_
#define CGRUN_PLAN_SCHEDULE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/ir/graph.h"

namespace cgrun {

struct ScheduleStep {
  NodeId node;
  int lane = 0;  // nodes of different lanes may run side by side; all are in lane 0 today
};

// Step i of the schedule is time i of liveness.
struct Schedule {
  std::vector<ScheduleStep> steps;
};

// What must come before what.
struct Dependencies {
  IdVector<NodeId, std::vector<NodeId>> successors;
  IdVector<NodeId, int> predecessor_count;
};

// Data edges, and for every update edge (state ← next) an edge from each other reader of the state,
// or of a view of it, to the producer of `next`. Acyclic for a graph whose updates are legal
// (update_legality.h).
Dependencies DependenciesOf(const Graph& graph);

// A deterministic order of a graph's nodes.
using OrderFunction = Schedule (*)(const Graph&);

struct OrderEntry {
  std::string_view name;  // of --order
  OrderFunction function;
  std::string_view doc;
};

std::span<const OrderEntry> Orders();
// Null where there is none of that name.
const OrderEntry* FindOrder(std::string_view name);
// For SuggestName().
std::vector<std::string> OrderNames();

// Every node once, no dependency broken, and all in lane 0, as liveness takes it that a step is
// over when the next begins: a sentence a violation.
std::vector<std::string> VerifySchedule(const Graph& graph, const Schedule& schedule);

}  // namespace cgrun

#endif  // CGRUN_PLAN_SCHEDULE_H_
