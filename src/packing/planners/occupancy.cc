// Windows of time that keep lists of what is taken short.
#include "src/packing/planners/occupancy.h"

#include <algorithm>

namespace cgrun {

Occupancy::Occupancy(const std::vector<SectionRange>& lifespans, AddressUnit unit) {
  int32_t sections = 0;
  for (const SectionRange& lifespan : lifespans) sections = std::max(sections, lifespan.end);
  everything_ = TakenList(unit, sections);
  int64_t sum = 0, count = 0;
  for (const SectionRange& lifespan : lifespans) {
    sum += lifespan.end - lifespan.begin;
    count += lifespan.end > lifespan.begin;
  }
  if (count == 0) return;
  const int64_t half_width = 4 * (sum / count + 1);
  if (half_width > sections / 4) return;
  half_width_ = static_cast<int32_t>(half_width);
  windows_.assign(static_cast<size_t>((sections - 1) / half_width_) + 1, TakenList(unit, sections));
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
