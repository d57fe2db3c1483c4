// The steps that matter: those at which more is alive together than a step earlier or later (the
// maximal cliques of the interval graph of lifespans). Two lifespans overlap exactly if they share
// such a section, and no step is fuller than the fullest section.
#ifndef CGRUN_PACKING_PLANNERS_TIME_SECTIONS_H_
#define CGRUN_PACKING_PLANNERS_TIME_SECTIONS_H_

#include <cstdint>
#include <vector>

#include "src/packing/memory_problem.h"
#include "src/packing/planners/taken_list.h"

namespace cgrun {

// Section i is the i-th step at which a buffer (of more than zero bytes) begins and none begins
// before the next one ends. Vectors are indexed by BufferId; buffers of zero bytes have an empty
// range, all others hold at least one section.
class TimeSections {
 public:
  // Keeps a reference to `problem`.
  explicit TimeSections(const MemoryProblem& problem);

  int32_t count() const { return static_cast<int32_t>(steps_.size()); }
  const std::vector<SectionRange>& ranges() const { return ranges_; }

  // For each section, the bytes alive in it.
  std::vector<Bytes> Totals() const;
  // For each buffer, the most bytes that are alive in one section of its lifespan.
  std::vector<Bytes> LargestTotals() const;
  // For each buffer, the number of buffers that overlap it in time, itself included.
  std::vector<int64_t> ConflictCounts() const;

 private:
  const MemoryProblem& problem_;
  std::vector<TimePoint> steps_;
  std::vector<SectionRange> ranges_;
};

}  // namespace cgrun

#endif  // CGRUN_PACKING_PLANNERS_TIME_SECTIONS_H_
