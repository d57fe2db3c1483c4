// A search among all choices of what is kept for the backward pass and what is recomputed. Rounds
// at the peak (peak_rounds.h) take one tensor after the other. Here each tensor can change its
// choice in the light of all others.
#ifndef CGRUN_BUDGET_KEPT_SEARCH_H_
#define CGRUN_BUDGET_KEPT_SEARCH_H_

#include <optional>

#include "src/ir/remat_plan.h"
#include "src/ops/target.h"
#include "src/plan/buffer_assignment.h"

namespace cgrun {

struct KeptSearchOptions {
  Bytes most_bytes = 0;  // transient, that may be alive at a step
  int threads = 1;
  BufferOptions buffers;
  int64_t nodes = 0;  // of the schedules that are looked at: what is spent
};

struct KeptPlan {
  Graph graph;         // without recomputations
  RematPlan remat;     // for it
  Schedule schedule;   // of the graph with them
  double seconds = 0;  // of recomputations
};

// Looks for recomputations with which no more is alive at any step than `options` allow, and which
// take less time than those of `start`, in any order that keeps that of the first runs in
// `schedule`. Returns nothing where it finds none.
std::optional<KeptPlan> SearchKept(const Graph& start, const Schedule& schedule,
                                   const Target& target, const KeptSearchOptions& options);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_KEPT_SEARCH_H_
