// Lowers a plan by searches for capacities between its bound and its peak: a plan that is found
// lowers the peak, a search that runs out of possibilities raises the bound. Where the two meet the
// plan is proved to be the best. Tight capacities come first: there the search gives up soonest
// what leads nowhere, and often finds at once what it would take long to find where more is
// allowed. (The ladder of bounds is SuperMalloc's, github.com/fpedd/omnimalloc; the round robin of
// orders with doubled limits is MiniMalloc's.)
#ifndef CGRUN_PLAN_PLANNERS_LADDER_H_
#define CGRUN_PLAN_PLANNERS_LADDER_H_

#include <cstdint>
#include <vector>

#include "src/plan/memory_problem.h"
#include "src/plan/planners/effort.h"
#include "src/plan/planners/time_sections.h"
#include "src/plan/planners/tree_search.h"

namespace cgrun {

class Ladder {
 public:
  // Keeps references to both. Takes memory for every pair that overlaps; see Fits().
  Ladder(const MemoryProblem& problem, const TimeSections& sections);

  // Whether a problem is small enough.
  static bool Fits(const MemoryProblem& problem, const TimeSections& sections);

  // One round: each capacity in each order, with twice the nodes in every other round, and from the
  // second round on with orders that are a little different each time. Sets offsets, peak_bytes and
  // lower_bound_bytes of `plan`; no peak below `target` is looked for.
  void Climb(Bytes target, MemoryPlan& plan, Effort& effort);

 private:
  // Where to look next between what is proved and what is known; in the order of the looking.
  std::vector<Bytes> Rungs(Bytes target, const MemoryPlan& plan) const;
  std::vector<BufferId> Varied(const std::vector<BufferId>& order) const;
  void Search(Bytes capacity, const std::vector<BufferId>& order, MemoryPlan& plan, Effort& effort);

  const MemoryProblem& problem_;
  TreeSearch search_;
  std::vector<std::vector<BufferId>> orders_;
  Bytes grain_ = 1;  // every peak is a multiple of it
  int64_t nodes_;    // of a search in the next round
  uint64_t round_ = 0;
};

}  // namespace cgrun

#endif  // CGRUN_PLAN_PLANNERS_LADDER_H_
