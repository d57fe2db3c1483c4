// Lowers a plan by searches for capacities between its bound and its peak. A plan that is found
// lowers the peak. A search that has tried all raises the bound. If the two meet, the plan is
// proved to be the best. The tightest capacity comes first, with the most nodes. There the search
// gives up hopeless branches soonest, and often finds at once what would take long with a looser
// capacity. (The ladder of bounds is SuperMalloc's, github.com/fpedd/omnimalloc; the round robin of
// preorders with doubled limits is MiniMalloc's.) Variations of the preorders help because few
// searches are hard in themselves: most that take long have begun badly.
#ifndef CGRUN_PACKING_PLANNERS_LADDER_H_
#define CGRUN_PACKING_PLANNERS_LADDER_H_

#include <cstdint>
#include <vector>

#include "src/packing/memory_problem.h"
#include "src/packing/planners/effort.h"
#include "src/packing/planners/time_sections.h"
#include "src/packing/planners/tree_search.h"

namespace cgrun {

class Ladder {
 public:
  // Keeps references to both. Takes memory for every pair that overlaps; see Fits().
  Ladder(const MemoryProblem& problem, const TimeSections& sections);

  // Returns whether a problem is small enough.
  static bool Fits(const MemoryProblem& problem, const TimeSections& sections);

  // One round of all preorders. As long as the capacity of the problem is not met, each searches
  // for that, and in every other round in steps towards it; then for `target` (or the bound) and in
  // steps towards that. The next four rounds
  // have twice the nodes and vary the preorders; where no capacity is asked for, only the steps are
  // tried in them. Sets offsets, peak_bytes and lower_bound_bytes of `plan`.
  void Climb(Bytes target, MemoryPlan& plan, Effort& effort);

 private:
  static constexpr int64_t kVariedRounds = 4;  // after each that is not

  bool is_varied() const { return round_ % (kVariedRounds + 1) != 0; }
  void Descend(Bytes low, const Preorder& order, MemoryPlan& plan, Effort& effort);
  bool Search(Bytes capacity, const Preorder& order, int64_t nodes, MemoryPlan& plan,
              Effort& effort);

  const MemoryProblem& problem_;
  TreeSearch search_;
  Bytes grain_ = 1;    // every peak is a multiple of it
  int64_t nodes_;      // of a search in the next round; half of it for a step
  size_t turn_ = 0;    // preorders tried
  int64_t round_ = 0;  // rounds climbed
};

}  // namespace cgrun

#endif  // CGRUN_PACKING_PLANNERS_LADDER_H_
