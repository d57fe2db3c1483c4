// Time cut into sections where buffers begin: two lifespans overlap exactly if they share a
// section, and no step is fuller than the fullest section. What orders want to know of a problem's
// time.
#ifndef CGRUN_PLAN_PLANNERS_TIME_SECTIONS_H_
#define CGRUN_PLAN_PLANNERS_TIME_SECTIONS_H_

#include <cstdint>
#include <vector>

#include "src/plan/memory_problem.h"
#include "src/plan/planners/occupancy.h"

namespace cgrun {

// Section i begins at the i-th of the distinct steps in which buffers (of more than zero bytes)
// begin. Vectors are indexed by BufferId; buffers of zero bytes have an empty range.
class TimeSections {
 public:
  // Keeps a reference to `problem`.
  explicit TimeSections(const MemoryProblem& problem);

  int32_t count() const { return static_cast<int32_t>(begins_.size()); }
  const std::vector<SectionRange>& ranges() const { return ranges_; }

  // For each buffer, the most bytes that are alive in one section of its lifespan.
  std::vector<Bytes> LargestTotals() const;
  // For each buffer, the number of buffers that overlap it in time, itself included.
  std::vector<int64_t> ConflictCounts() const;

 private:
  std::vector<Bytes> Totals() const;

  const MemoryProblem& problem_;
  std::vector<TimePoint> begins_;
  std::vector<SectionRange> ranges_;
};

}  // namespace cgrun

#endif  // CGRUN_PLAN_PLANNERS_TIME_SECTIONS_H_
