// Knows which bytes are taken in which sections of time, so that a buffer can be placed. Entry
// points: Occupancy::FirstFit, BestFit, Take.
#ifndef CGRUN_PACKING_PLANNERS_OCCUPANCY_H_
#define CGRUN_PACKING_PLANNERS_OCCUPANCY_H_

#include <cstdint>
#include <vector>

#include "src/packing/planners/taken_list.h"

namespace cgrun {

// Keeps all taken bytes in one list for lifespans of any length. Short lists hold them a second
// time, each for a window of time. Windows overlap by half. A lifespan of at most half a window's
// width lies wholly in some window, whose list is all that matters to it. A buffer that lives
// through a whole window counts there as an address range. Neighbouring ranges grow together. So a
// few thousand activations that wait for the backward pass, one on the other, are one range.
//
// Windows are as wide as eight mean lifespans: that keeps the lists near the number of true
// overlaps, and the copies of a buffer at three or so. If some lifespans are so long that there
// would be no window, windows are narrower. A buffer then has about √n / 8 copies.
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
  struct Window {
    TakenList list;                    // of what is not there all the time
    std::vector<AddressRange> always;  // sorted, with free bytes between any two
  };

  // Returns null where the lifespan has no window.
  const Window* WindowFor(SectionRange time) const;
  static void AddAlways(Window& window, AddressRange range);

  int32_t half_width_ = 0;       // sections; window i begins at section i · half_width_
  std::vector<Window> windows_;  // empty where they would save nothing
  TakenList everything_;
};

}  // namespace cgrun

#endif  // CGRUN_PACKING_PLANNERS_OCCUPANCY_H_
