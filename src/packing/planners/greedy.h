// Greedy placement: buffers one by one, in an order, each at the best offset that is free for it.
// The orders and their planners are in greedy.cc.
#ifndef CGRUN_PACKING_PLANNERS_GREEDY_H_
#define CGRUN_PACKING_PLANNERS_GREEDY_H_

#include <vector>

#include "src/packing/memory_problem.h"
#include "src/packing/planner.h"
#include "src/packing/planners/time_sections.h"

namespace cgrun {

// Chooses the gap for a buffer among those that are large enough.
enum class Fit {
  kFirst,  // the lowest offset
  kBest,   // the gap that leaves the fewest bytes
};

// Says which buffers go first.
enum class Order {
  kSize,       // most bytes
  kArea,       // most bytes x steps
  kLifetime,   // most steps
  kSection,    // most bytes alive, itself included, at some step of its lifespan
  kConflicts,  // most buffers whose lifespans overlap its own
  kStart,      // born first
  kEnd,        // dying last
};

// Fixed buffers are placed first. In a time-disconnected part without fixed buffers, those that
// live through all of it come next, where their size is a multiple of every alignment of the part:
// below all others they cost what they cost anywhere. Equal ranks are settled by area, bytes,
// birth, death and alignment, so that only interchangeable buffers are told apart by their ids.
MemoryPlan PlaceGreedily(const MemoryProblem& problem, Order order, Fit fit);

// The plan of a planner of role kOrder, where its peak is less than `most`; else one whose peak is
// no less, and whose offsets say nothing. `sections` are those of the problem.
MemoryPlan PlaceBelow(const PlannerEntry& planner, const MemoryProblem& problem,
                      const TimeSections& sections, Bytes most);

// The two halves of that: all buffers that have bytes, in the order of placement; and the plan of
// any such sequence.
std::vector<BufferId> PlacementSequence(const MemoryProblem& problem, const TimeSections& sections,
                                        Order order);
MemoryPlan PlaceInSequence(const MemoryProblem& problem, const TimeSections& sections,
                           const std::vector<BufferId>& sequence, Fit fit);

}  // namespace cgrun

#endif  // CGRUN_PACKING_PLANNERS_GREEDY_H_
