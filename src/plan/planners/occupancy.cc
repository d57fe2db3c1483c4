// The segment tree of byte sets.
#include "src/plan/planners/occupancy.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace cgrun {
namespace {

// The first range that ends above `from`.
template <class Ranges>
auto FirstAbove(Ranges& ranges, Bytes from) {
  return std::partition_point(ranges.begin(), ranges.end(),
                              [from](const ByteSet::Range& range) { return range.end <= from; });
}

}  // namespace

void ByteSet::Add(Range range) {
  // Ranges that overlap or touch the new one become part of it.
  const auto first = std::partition_point(
      ranges_.begin(), ranges_.end(), [&](const Range& other) { return other.end < range.begin; });
  auto last = first;
  for (; last != ranges_.end() && last->begin <= range.end; ++last) {
    range.begin = std::min(range.begin, last->begin);
    range.end = std::max(range.end, last->end);
  }
  if (first == last) {
    ranges_.insert(first, range);
  } else {
    *first = range;
    ranges_.erase(first + 1, last);
  }
}

Bytes ByteSet::FreeFrom(Bytes from, Bytes bytes, Bytes alignment) const {
  Bytes offset = RoundUp(from, alignment);
  for (auto it = FirstAbove(ranges_, offset); it != ranges_.end(); ++it) {
    if (offset + bytes <= it->begin) break;
    offset = std::max(offset, RoundUp(it->end, alignment));
  }
  return offset;
}

Bytes ByteSet::NextBegin(Bytes from) const {
  const auto it = FirstAbove(ranges_, from);
  return it == ranges_.end() ? kNoLimit : it->begin;
}

Occupancy::Occupancy(int32_t sections, Bytes granularity)
    : sections_(std::max(sections, 1)),
      granularity_(granularity),
      nodes_(2 * std::bit_ceil(static_cast<size_t>(sections_))) {}

void Occupancy::Collect(size_t node, SectionRange span, SectionRange time) const {
  if (time.begin <= span.begin && span.end <= time.end) {
    sets_.push_back(&nodes_[node].within);
    return;
  }
  sets_.push_back(&nodes_[node].across);
  const int32_t middle = span.begin + (span.end - span.begin) / 2;
  if (time.begin < middle) Collect(2 * node, {span.begin, middle}, time);
  if (middle < time.end) Collect(2 * node + 1, {middle, span.end}, time);
}

void Occupancy::Add(size_t node, SectionRange span, SectionRange time, ByteSet::Range range) {
  nodes_[node].within.Add(range);
  if (time.begin <= span.begin && span.end <= time.end) {
    nodes_[node].across.Add(range);
    return;
  }
  const int32_t middle = span.begin + (span.end - span.begin) / 2;
  if (time.begin < middle) Add(2 * node, {span.begin, middle}, time, range);
  if (middle < time.end) Add(2 * node + 1, {middle, span.end}, time, range);
}

// Raises the offset past whatever is in the way in one set after another, until all sets agree.
Bytes Occupancy::FreeFrom(Bytes from, Bytes bytes, Bytes alignment) const {
  Bytes offset = RoundUp(from, alignment);
  size_t agreed = 0;
  for (size_t i = 0; agreed < sets_.size(); i = (i + 1) % sets_.size()) {
    const Bytes raised = sets_[i]->FreeFrom(offset, bytes, alignment);
    agreed = raised == offset ? agreed + 1 : 1;
    offset = raised;
  }
  return offset;
}

Bytes Occupancy::FirstFit(SectionRange time, Bytes bytes, Bytes alignment) const {
  sets_.clear();
  Collect(1, Everything(), time);
  return FreeFrom(0, bytes, alignment);
}

Bytes Occupancy::BestFit(SectionRange time, Bytes bytes, Bytes alignment) const {
  sets_.clear();
  Collect(1, Everything(), time);
  Bytes best = 0, least_room = kNoLimit;
  for (Bytes from = 0;;) {
    const Bytes offset = FreeFrom(from, bytes, alignment);
    Bytes gap_end = kNoLimit;
    for (const ByteSet* set : sets_) gap_end = std::min(gap_end, set->NextBegin(offset));
    if (gap_end == kNoLimit) return least_room == kNoLimit ? offset : best;
    if (gap_end - offset < least_room) {
      best = offset;
      least_room = gap_end - offset;
    }
    from = gap_end;
  }
}

void Occupancy::Take(SectionRange time, Bytes offset, Bytes bytes) {
  Add(1, Everything(), time, {offset, RoundUp(offset + bytes, granularity_)});
}

}  // namespace cgrun
