// A plan in two parts: first what is alive in the fullest sections of time, as a problem of its
// own; then everything else around it. The first is a small problem for the tree search, the second
// an easy one for the squeaky wheel. Where not even the first has a plan within a capacity, the
// whole has none: it leaves buffers out, and adds nothing.
#ifndef CGRUN_PACKING_PLANNERS_PEAK_FIRST_H_
#define CGRUN_PACKING_PLANNERS_PEAK_FIRST_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "src/packing/memory_problem.h"
#include "src/packing/planners/effort.h"
#include "src/packing/planners/time_sections.h"
#include "src/packing/planners/tree_search.h"

namespace cgrun {

// What is alive in the sections that hold at least `share` of what the fullest one does, and all
// fixed buffers, which leave no choice. `ids`: of its buffers, in the whole problem.
struct PeakProblem {
  MemoryProblem problem;
  std::vector<BufferId> ids;
};
PeakProblem PeakProblemOf(const MemoryProblem& problem, const TimeSections& sections, double share);

class PeakFirst {
 public:
  static constexpr int64_t kShares = 4;

  // Keeps references to both.
  PeakFirst(const MemoryProblem& problem, const TimeSections& sections);

  // Looks for a plan that ends at or below `capacity`, in about `nodes` nodes of `effort`. Every
  // call tries another share or another way to search. kNone is a proof for the whole problem.
  SearchOutcome Run(Bytes capacity, int64_t nodes, Effort& effort);

  // After kFound, this holds the offsets, one per buffer of the problem.
  const std::vector<Bytes>& offsets() const { return offsets_; }

 private:
  // A share, and what it leaves to search in.
  struct Peak {
    PeakProblem part;
    std::unique_ptr<TimeSections> sections;
    std::unique_ptr<TreeSearch> search;  // null where the part is too large
  };

  Peak& PeakOf(size_t share);
  bool PlaceAround(const Peak& peak, Bytes capacity, int64_t nodes, Effort& effort);

  const MemoryProblem& problem_;
  const TimeSections& sections_;
  std::vector<std::unique_ptr<Peak>> peaks_;  // by share, made when it is needed
  std::vector<Bytes> offsets_;
  size_t turn_ = 0;  // calls of Run
};

}  // namespace cgrun

#endif  // CGRUN_PACKING_PLANNERS_PEAK_FIRST_H_
