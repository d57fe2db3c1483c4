// Nodes side by side: stretches of small nodes, for which a second thread is not worth it, in two
// lanes of one thread each.
//
//   one by one   | a0 | a1 | a2 | b0 | b1 | b2 |
//
//   lane 1       | a0      | a1 | a2 |      a0 begins at step 0, b0 at step 1: beside it
//   lane 2       | b0 | b1 | b2   |         a0 is over when step 4 begins, which is a1: its length
//   steps        01   2    3 4    5         is 4
#ifndef CGRUN_PLAN_SIDE_BY_SIDE_H_
#define CGRUN_PLAN_SIDE_BY_SIDE_H_

#include <optional>

#include "src/plan/buffer_assignment.h"

namespace cgrun {

struct SideBySideOptions {
  BufferOptions buffers;
  Bytes most_bytes = 0;  // of the device's transient buffers that may be alive at once
};

// The nodes of `schedule`, which is in lane 0 as a whole, in two lanes where that saves time.
// `alone` tells how many seconds each node takes on one thread; less than 0: it is to have all
// threads. Nothing where nothing is saved.
std::optional<Schedule> SideBySide(const Graph& graph, const Schedule& schedule,
                                   const IdVector<NodeId, double>& alone,
                                   const SideBySideOptions& options);

}  // namespace cgrun

#endif  // CGRUN_PLAN_SIDE_BY_SIDE_H_
