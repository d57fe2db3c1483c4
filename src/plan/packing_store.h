// Packings that took a search, kept for the next compile of the same model.
#ifndef CGRUN_PLAN_PACKING_STORE_H_
#define CGRUN_PLAN_PACKING_STORE_H_

#include <optional>
#include <string_view>

#include "src/packing/planner.h"

namespace cgrun {

// A plan is kept if its search takes at least so many placements, which is some hundredths of a
// second.
inline constexpr int64_t kNodesWorthKeeping = 20'000;

class PackingStore {
 public:
  virtual ~PackingStore() = default;

  // Returns the plan that Keep() was given for the same problem and planner. Returns nothing if
  // there is none, or if it cannot be read. The caller must check the plan, which may be anything.
  virtual std::optional<MemoryPlan> Find(const MemoryProblem& problem,
                                         std::string_view planner) = 0;
  // May fail without an error. Then the search is made a second time.
  virtual void Keep(const MemoryProblem& problem, const MemoryPlan& plan) = 0;
};

// Returns the plan of PlanMemory() from `store`, if it has a valid one. A null store has none.
// Planners give the same plan for the same problem, so the store only saves time.
MemoryPlan PlanMemoryOnce(const MemoryProblem& problem, std::string_view planner,
                          PackingStore* store);

// The planner that plans of PackOnce() name.
inline constexpr std::string_view kLongSearch = "long search";

// The same of Pack() with its usual nodes, which takes seconds where the bound is hard to meet.
MemoryPlan PackOnce(const MemoryProblem& problem, PackingStore* store);

}  // namespace cgrun

#endif  // CGRUN_PLAN_PACKING_STORE_H_
