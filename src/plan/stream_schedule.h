// Parallel streams: stretches of small nodes, for which a second thread is not worth it, in two
// streams of one thread each.
//
//   one by one   | a0 | a1 | a2 | b0 | b1 | b2 |
//
//   stream 1     | a0      | a1 | a2 |      a0 begins at step 0, b0 at step 1: beside it
//   stream 2     | b0 | b1 | b2 |           a0 is over when step 4 begins, which is a1: so
//   steps        01   2    3 4    5         its length is 4
#ifndef CGRUN_PLAN_STREAM_SCHEDULE_H_
#define CGRUN_PLAN_STREAM_SCHEDULE_H_

#include <optional>

#include "src/plan/buffer_assignment.h"

namespace cgrun {

struct StreamScheduleOptions {
  BufferOptions buffers;
  Bytes most_bytes = 0;  // of the device's transient buffers that may be alive at once
};

// Puts nodes of `schedule`, which is in stream 0 as a whole, into two streams where that saves
// time. `seconds` has the time of each node on one thread; if it is below 0, the node is to have
// all threads. If no time is saved, the result is empty.
std::optional<Schedule> ArrangeStreams(const Graph& graph, const Schedule& schedule,
                                       const IdVector<NodeId, double>& seconds,
                                       const StreamScheduleOptions& options);

}  // namespace cgrun

#endif  // CGRUN_PLAN_STREAM_SCHEDULE_H_
