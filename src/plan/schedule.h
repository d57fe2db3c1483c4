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

// A node begins at its step. On all threads, in stream 0, it has no other beside it, and is over
// when the next begins. On one thread, in stream 1 or 2, it can go on beside nodes of the other
// stream: it is over when step i + `length` begins.
struct ScheduleStep {
  NodeId node;
  int stream = 0;
  int64_t length = 1;
};

inline constexpr int kParallelStreams = 2;  // of small nodes, one thread each

// Step i of the schedule is time i of liveness.
struct Schedule {
  std::vector<ScheduleStep> steps;
};

// Says which nodes must come before which.
struct Dependencies {
  FlatLists<NodeId, NodeId> successors;
  IdVector<NodeId, int> predecessor_count;
};

// Data edges, and for every update edge (state ← next) an edge from each other reader of the state,
// or of a view of it, to the producer of `next`. Acyclic for a graph whose updates are legal
// (update_legality.h).
Dependencies DependenciesOf(const Graph& graph);

// A deterministic order of a graph's nodes, whose dependencies are these.
using OrderFunction = Schedule (*)(const Graph&, const Dependencies&);

struct OrderEntry {
  std::string_view name;  // of --order
  OrderFunction function;
  std::string_view doc;

  Schedule Order(const Graph& graph) const { return function(graph, DependenciesOf(graph)); }
};

std::span<const OrderEntry> Orders();
// Returns null where there is none of that name.
const OrderEntry* FindOrder(std::string_view name);
// For SuggestName().
std::vector<std::string> OrderNames();

// Every node once, none begins before what it depends on is over, and no two in one stream at once:
// a sentence a violation.
std::vector<std::string> VerifySchedule(const Graph& graph, const Dependencies& dependencies,
                                        const Schedule& schedule);
std::vector<std::string> VerifySchedule(const Graph& graph, const Schedule& schedule);

}  // namespace cgrun

#endif  // CGRUN_PLAN_SCHEDULE_H_
