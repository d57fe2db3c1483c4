// Which bytes are taken in which sections of time: the question that placing a buffer asks.
// Entry points: Occupancy::FirstFit, BestFit, Take.
#ifndef CGRUN_PACKING_PLANNERS_OCCUPANCY_H_
#define CGRUN_PACKING_PLANNERS_OCCUPANCY_H_

#include <cstdint>
#include <vector>

#include "src/packing/planners/taken_list.h"

namespace cgrun {

// All that is taken, in one list for lifespans of any length, and once more in short lists, each
// for a window of time; windows overlap by half. A lifespan of at most half a window's width lies
// wholly in some window, whose list is all that matters to it. Windows are as wide as eight mean
// lifespans: that keeps the lists near the number of true overlaps, and the copies of a buffer at
// three or so. Where many live long, a question passes all that is placed.
class Occupancy {
 public:
  // `lifespans`: of all buffers that may come; empty ranges are left out of account.
  explicit Occupancy(const std::vector<SectionRange>& lifespans, AddressUnit unit = {});

  // The lowest aligned offset where `bytes` > 0 bytes are free in all sections of `time`.
  Bytes FirstFit(SectionRange time, Bytes bytes, Bytes alignment) const;
  // The aligned offset in the gap that has the fewest bytes left above the buffer, the lowest of
  // equals; above everything only if no gap holds it.
  Bytes BestFit(SectionRange time, Bytes bytes, Bytes alignment) const;
  void Take(SectionRange time, Bytes offset, Bytes bytes);

 private:
  const TakenList& ListFor(SectionRange time) const;

  int32_t half_width_ = 0;          // sections; window i begins at section i · half_width_
  std::vector<TakenList> windows_;  // empty where they would save nothing
  TakenList everything_;
};

}  // namespace cgrun

#endif  // CGRUN_PACKING_PLANNERS_OCCUPANCY_H_
