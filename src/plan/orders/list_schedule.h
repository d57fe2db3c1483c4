// List scheduling: of the nodes that are ready, the one with the smallest priority runs next.
#ifndef CGRUN_PLAN_ORDERS_LIST_SCHEDULE_H_
#define CGRUN_PLAN_ORDERS_LIST_SCHEDULE_H_

#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "src/base/check.h"
#include "src/plan/schedule.h"

namespace cgrun {

// `priority` maps (node, how many became ready before it) to a comparable key; equal ones run in
// the order of ids.
template <class Priority>
Schedule ListSchedule(const Dependencies& dependencies, Priority priority) {
  IdVector<NodeId, int> missing = dependencies.predecessor_count;
  using Key = decltype(priority(NodeId(), int64_t{0}));
  using Entry = std::pair<Key, NodeId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  int64_t sequence = 0;
  const auto make_ready = [&](NodeId node) { ready.push({priority(node, sequence++), node}); };
  for (NodeId node : missing.ids()) {
    if (missing[node] == 0) make_ready(node);
  }
  Schedule schedule;
  schedule.steps.reserve(missing.size());
  while (!ready.empty()) {
    const NodeId node = ready.top().second;
    ready.pop();
    schedule.steps.push_back({node, 0});
    for (NodeId successor : dependencies.successors[node]) {
      if (--missing[successor] == 0) make_ready(successor);
    }
  }
  CGRUN_CHECK(schedule.steps.size() == missing.size()) << "the dependencies have a cycle";
  return schedule;
}

}  // namespace cgrun

#endif  // CGRUN_PLAN_ORDERS_LIST_SCHEDULE_H_
