// Makes a plan in two parts. The buffers alive in the fullest sections of time are a problem of
// their own, which is solved first. Everything else is placed around them. The first problem is
// small, for the tree search. The second is easy for the squeaky wheel. The first problem only
// leaves buffers out. So if it has no plan within a capacity, the whole has none.
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

// Holds the buffers alive in sections with at least `share` of the fullest section's bytes. It also
// holds all fixed buffers, which leave no choice. `ids` names its buffers in the whole problem.
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
