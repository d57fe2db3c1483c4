// One pass over the schedule.
#include "src/plan/liveness.h"

#include <algorithm>

#include "src/plan/reach.h"

namespace cgrun {

Liveness ComputeLiveness(const Graph& graph, const Schedule& schedule, bool incremental) {
  Liveness liveness;
  const TimePoint scheduled = static_cast<TimePoint>(schedule.steps.size());
  liveness.steps = std::max<TimePoint>(1, scheduled);
  liveness.values.resize(graph.values.size());
  for (ValueId id : graph.values.ids()) {
    const Role role = graph.values[id].role;
    const bool always = IsState(role) || role == Role::kConstant;
    liveness.values[id] = {0, always ? liveness.steps : 1};
  }
  for (TimePoint time = 0; time < scheduled; ++time) {
    const ScheduleStep& step = schedule.steps[static_cast<size_t>(time)];
    const Node& node = graph.nodes[step.node];
    const TimePoint over = time + step.length;
    for (ValueId output : node.outputs) liveness.values[output] = {time, over};
    for (ValueId input : node.inputs) {
      Lifespan& span = liveness.values[input];
      span.upper = std::max(span.upper, over);
    }
  }
  for (const Output& output : graph.outputs) liveness.values[output.value].upper = liveness.steps;
  for (const UpdateEdge& edge : graph.updates) {
    liveness.values[edge.next].upper = liveness.steps;
  }
  liveness.kept.resize(graph.values.size());
  if (!incremental) return liveness;
  liveness.kept = KeptBetweenRuns(graph, ComputeReach(graph));
  for (ValueId id : graph.values.ids()) {
    if (liveness.kept[id]) liveness.values[id] = {0, liveness.steps};
  }
  return liveness;
}

}  // namespace cgrun
