// What is held for the backward pass and what is computed again, looked for among all such choices
// at once: where rounds at the peak (recompute.h) take one tensor after the other, here each can
// change its place, in the light of all others.
#ifndef CGRUN_PLAN_HELD_SEARCH_H_
#define CGRUN_PLAN_HELD_SEARCH_H_

#include <optional>

#include "src/ir/remat_plan.h"
#include "src/ops/target.h"
#include "src/plan/buffer_assignment.h"

namespace cgrun {

struct HeldSearchOptions {
  Bytes most_bytes = 0;  // transient, that may be alive at a step
  int threads = 1;
  BufferOptions buffers;
  int64_t nodes = 0;  // of the schedules that are looked at: what is spent
};

struct HeldPlan {
  Graph graph;         // without second runs
  RematPlan remat;     // for it
  Schedule schedule;   // of the graph with them
  double seconds = 0;  // of what runs again
};

// Looks for second runs with which no more is alive at any step than `options` allow, and which
// take less time than those of `start`, in any order that keeps that of the first runs in
// `schedule`. Nothing where it finds none.
std::optional<HeldPlan> SearchHeld(const Graph& start, const Schedule& schedule,
                                   const Target& target, const HeldSearchOptions& options);

}  // namespace cgrun

#endif  // CGRUN_PLAN_HELD_SEARCH_H_
