// Lists of what is taken, and the windows of time that keep them short.
#include "src/plan/planners/occupancy.h"

#include <algorithm>

namespace cgrun {

void TakenList::Take(SectionRange time, Bytes begin, Bytes end) {
  const auto behind = std::partition_point(
      taken_.begin(), taken_.end(), [begin](const Taken& other) { return other.begin <= begin; });
  taken_.insert(behind, {begin, end, time});
}

// Calls `visit` with each gap that holds the buffer, its begin aligned, from the lowest to the one
// above everything, until it returns false.
template <class Visitor>
void TakenList::VisitGaps(SectionRange time, Bytes bytes, Bytes alignment,
                          const Visitor& visit) const {
  Bytes top = 0;  // of what was passed
  for (const Taken& taken : taken_) {
    // Without a branch: in a crowd nobody can predict whether two lifespans overlap.
    const bool overlaps = (taken.time.begin < time.end) & (time.begin < taken.time.end);
    if (overlaps & (taken.begin - top >= bytes)) [[unlikely]] {
      const Bytes begin = RoundUp(top, alignment);
      if (begin + bytes <= taken.begin && !visit(Gap{begin, taken.begin})) return;
    }
    const Bytes end = overlaps ? taken.end : 0;
    top = end > top ? end : top;
  }
  visit(Gap{RoundUp(top, alignment), kNoLimit});
}

Bytes TakenList::FirstFit(SectionRange time, Bytes bytes, Bytes alignment) const {
  Bytes first = 0;
  VisitGaps(time, bytes, alignment, [&first](Gap gap) {
    first = gap.begin;
    return false;
  });
  return first;
}

Bytes TakenList::BestFit(SectionRange time, Bytes bytes, Bytes alignment) const {
  Gap best = {0, kNoLimit};
  VisitGaps(time, bytes, alignment, [&best](Gap gap) {
    const bool tighter = gap.end != kNoLimit && gap.end - gap.begin < best.end - best.begin;
    if (tighter || (gap.end == kNoLimit && best.end == kNoLimit)) best = gap;
    return true;
  });
  return best.begin;
}

Bytes TakenList::LastFit(SectionRange time, Bytes bytes, Bytes alignment, Bytes limit) const {
  Bytes last = -1;
  VisitGaps(time, bytes, alignment, [&](Gap gap) {
    const Bytes end = std::min(gap.end, limit);
    if (gap.begin <= end - bytes) last = (end - bytes) & ~(alignment - 1);
    return gap.end < limit;
  });
  return last;
}

Occupancy::Occupancy(const std::vector<SectionRange>& lifespans) {
  int32_t sections = 0;
  int64_t sum = 0, count = 0;
  for (const SectionRange& lifespan : lifespans) {
    sections = std::max(sections, lifespan.end);
    sum += lifespan.end - lifespan.begin;
    count += lifespan.end > lifespan.begin;
  }
  if (count == 0) return;
  const int64_t half_width = 4 * (sum / count + 1);
  if (half_width > sections / 4) return;
  half_width_ = static_cast<int32_t>(half_width);
  windows_.resize(static_cast<size_t>((sections - 1) / half_width_) + 1);
}

const TakenList& Occupancy::ListFor(SectionRange time) const {
  const bool is_short = time.end - time.begin <= half_width_;
  return is_short ? windows_[static_cast<size_t>(time.begin / half_width_)] : everything_;
}

Bytes Occupancy::FirstFit(SectionRange time, Bytes bytes, Bytes alignment) const {
  return ListFor(time).FirstFit(time, bytes, alignment);
}

Bytes Occupancy::BestFit(SectionRange time, Bytes bytes, Bytes alignment) const {
  return ListFor(time).BestFit(time, bytes, alignment);
}

void Occupancy::Take(SectionRange time, Bytes offset, Bytes bytes) {
  everything_.Take(time, offset, offset + bytes);
  if (windows_.empty()) return;
  const int32_t first = std::max(time.begin / half_width_ - 1, 0);
  for (int32_t window = first; window * half_width_ < time.end; ++window) {
    windows_[static_cast<size_t>(window)].Take(time, offset, offset + bytes);
  }
}

}  // namespace cgrun
