// This file holds the blocks of taken bytes, and searches for gaps in one of them.
#include "src/packing/planners/taken_list.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace cgrun {
namespace {

constexpr Bytes kMostUnits = Bytes{1} << 30;  // that are narrow

// The first lane from `lane` on that meets `time` and has `bytes` free below it, above all that
// meets it before; `top` is the end of that, then. `count` where there is none.
template <class Block, class Number>
int FindGapOneByOne(const Block& block, int lane, int count, SectionRange time, Number bytes,
                    Number& top) {
  for (; lane < count; ++lane) {
    // Without a branch: in a crowd nobody can predict whether two lifespans overlap.
    const bool overlaps = (block.from[lane] < time.end) & (time.begin < block.to[lane]);
    if (overlaps & (block.begin[lane] - top >= bytes)) [[unlikely]]
      return lane;
    const Number end = overlaps ? block.end[lane] : 0;
    top = end > top ? end : top;
  }
  return count;
}

#if defined(__x86_64__)
const bool kHasAvx2 = __builtin_cpu_supports("avx2");

constexpr int kGroup = 8;

__attribute__((target("avx2"))) inline __m256i Load(const int32_t* lanes) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes));
}

// Does the same for whole groups from `lane` on.
template <class Block>
__attribute__((target("avx2"))) int FindGapByGroups(const Block& block, int lane, SectionRange time,
                                                    int32_t bytes, int32_t& top) {
  const __m256i time_begin = _mm256_set1_epi32(time.begin), time_end = _mm256_set1_epi32(time.end);
  const __m256i too_few = _mm256_set1_epi32(bytes - 1);
  const __m256i last = _mm256_set1_epi32(kGroup - 1);
  const __m256i one_before = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
  __m256i tops = _mm256_set1_epi32(top);
  for (; lane < block.count; lane += kGroup) {
    const __m256i overlaps =
        _mm256_and_si256(_mm256_cmpgt_epi32(time_end, Load(block.from + lane)),
                         _mm256_cmpgt_epi32(Load(block.to + lane), time_begin));
    // `ends` gets the largest end up to each lane: over two, four, then eight lanes.
    __m256i ends = _mm256_and_si256(overlaps, Load(block.end + lane));
    ends = _mm256_max_epi32(ends, _mm256_slli_si256(ends, 4));
    ends = _mm256_max_epi32(ends, _mm256_slli_si256(ends, 8));
    const __m256i lower_half = _mm256_permute2x128_si256(ends, ends, 0x08);
    ends = _mm256_max_epi32(ends, _mm256_shuffle_epi32(lower_half, 0xFF));
    const __m256i before = _mm256_blend_epi32(_mm256_permutevar8x32_epi32(ends, one_before),
                                              _mm256_setzero_si256(), 1);
    const __m256i tops_before = _mm256_max_epi32(tops, before);
    const __m256i room = _mm256_sub_epi32(Load(block.begin + lane), tops_before);
    const __m256i found = _mm256_and_si256(overlaps, _mm256_cmpgt_epi32(room, too_few));
    const auto mask = static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(found)));
    if (mask != 0) [[unlikely]] {
      int32_t lanes[kGroup];
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), tops_before);
      const int first = std::countr_zero(mask);
      top = lanes[first];
      return lane + first;
    }
    tops = _mm256_max_epi32(tops, _mm256_permutevar8x32_epi32(ends, last));
  }
  top = _mm256_extract_epi32(tops, 0);
  return block.count;
}
#endif

// Returns a number that divides every offset of a plan in which buffers rest on each other.
Bytes GrainOf(const MemoryProblem& problem) {
  Bytes grain = 0;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.bytes > 0) {
      grain = std::gcd(grain, std::gcd(buffer.bytes, buffer.offset.value_or(0)));
    }
  }
  // Offsets are such ends, rounded up.
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.bytes > 0 && grain % buffer.alignment != 0) {
      grain = std::gcd(grain, buffer.alignment);
    }
  }
  return std::max<Bytes>(grain, 1);
}

}  // namespace

AddressUnit UnitOf(const MemoryProblem& problem) {
  AddressUnit unit;
  unit.bytes = GrainOf(problem);
  Bytes most = 0, padding = 0;
  for (const Buffer& buffer : problem.buffers) {
    most = std::max(most, buffer.offset.value_or(0));
    padding = std::max(padding, buffer.alignment);
  }
  unit.is_narrow = true;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.bytes == 0) continue;
    most += std::min(buffer.bytes, kNoLimit / 4) + padding;
    unit.is_narrow = unit.is_narrow && most / unit.bytes < kMostUnits;
    if (!unit.is_narrow) break;
  }
  return unit;
}

template <class Number>
int TakenBlocks<Number>::FindGap(const Block& block, int lane, SectionRange time, Number bytes,
                                 Number& top) {
#if defined(__x86_64__)
  if constexpr (sizeof(Number) == sizeof(int32_t)) {
    if (kHasAvx2) {
      const int whole = std::min((lane + kGroup - 1) / kGroup * kGroup, block.count);
      const int found = FindGapOneByOne(block, lane, whole, time, bytes, top);
      return found < whole ? found : FindGapByGroups(block, whole, time, bytes, top);
    }
  }
#endif
  return FindGapOneByOne(block, lane, block.count, time, bytes, top);
}

template <class Number>
template <class Visitor>
void TakenBlocks<Number>::VisitGaps(SectionRange time, Number bytes, Number alignment,
                                    const Visitor& visit) const {
  const auto aligned = [alignment](Number top) {
    return static_cast<Number>((top + alignment - 1) / alignment * alignment);
  };
  Number top = 0;  // of what was passed
  const Slots slots = TouchedBy(time);
  for (const int32_t id : order_) {
    const Block& block = pool_[static_cast<size_t>(id)];
    if ((block.any & slots) == 0 || !Meet(block.hull, time)) continue;
    if (Meet(block.core, time) && !block.has_hole && block.begin[0] - top < bytes) {
      top = std::max(top, block.top);
      continue;
    }
    int lane = 0;
    while ((lane = FindGap(block, lane, time, bytes, top)) < block.count) {
      const Number begin = aligned(top);
      if (begin + bytes <= block.begin[lane] && !visit(begin, block.begin[lane])) return;
      top = std::max(top, block.end[lane]);
      ++lane;
    }
  }
  visit(aligned(top), std::numeric_limits<Number>::max());
}

template <class Number>
TakenBlocks<Number>::Slots TakenBlocks<Number>::TouchedBy(SectionRange time) const {
  const int first = std::min(time.begin / slot_width_, kSlots - 1);
  const int last = std::clamp((time.end - 1) / slot_width_, first, kSlots - 1);
  return (~Slots{0} >> (kSlots - 1 - (last - first))) << first;
}

template <class Number>
void TakenBlocks<Number>::AddTime(Block& block, SectionRange time) const {
  block.any |= TouchedBy(time);
  block.hull = {std::min(block.hull.begin, time.begin), std::max(block.hull.end, time.end)};
  block.core = {std::max(block.core.begin, time.begin), std::min(block.core.end, time.end)};
}

// Updates the summary of the block after one of its lanes was written.
template <class Number>
void TakenBlocks<Number>::Note(Block& block, int lane) const {
  const SectionRange time = {block.from[lane], block.to[lane]};
  const bool is_first = block.count == 1;
  const bool joins =
      is_first || (lane == 0 ? block.end[0] >= block.begin[1] : block.begin[lane] <= block.top);
  if (is_first) {
    block.any = 0;
    block.hull = block.core = time;
  }
  AddTime(block, time);
  block.top = is_first ? block.end[lane] : std::max(block.top, block.end[lane]);
  if (is_first) block.has_hole = false;
  if (block.has_hole) return NoteAll(block);  // the hole may be filled now
  block.has_hole = !joins;
}

template <class Number>
void TakenBlocks<Number>::NoteAll(Block& block) const {
  block.any = 0;
  block.hull = block.core = {block.from[0], block.to[0]};
  block.top = block.begin[0];
  block.has_hole = false;
  for (int lane = 0; lane < block.count; ++lane) {
    AddTime(block, {block.from[lane], block.to[lane]});
    block.has_hole = block.has_hole || block.begin[lane] > block.top;
    block.top = std::max(block.top, block.end[lane]);
  }
}

template <class Number>
void TakenBlocks<Number>::Clear() {
  order_.clear();
  size_ = 0;
}

template <class Number>
TakenBlocks<Number>::Block& TakenBlocks<Number>::NewBlock(size_t place) {
  const size_t id = order_.size();
  order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(place), static_cast<int32_t>(id));
  if (id == pool_.size()) pool_.emplace_back();
  Block& block = pool_[id];
  std::fill(std::begin(block.from), std::end(block.from), std::numeric_limits<int32_t>::max());
  block.count = 0;
  return block;
}

// The block that what begins there, at section `from`, goes into, which is not full.
template <class Number>
TakenBlocks<Number>::Block& TakenBlocks<Number>::BlockFor(Number begin, int32_t from) {
  const auto is_before = [&](const Block& block, int lane) {
    return std::pair(block.begin[lane], block.from[lane]) <= std::pair(begin, from);
  };
  const auto behind = std::partition_point(order_.begin(), order_.end(), [&](int32_t id) {
    return is_before(pool_[static_cast<size_t>(id)], 0);
  });
  if (order_.empty()) return NewBlock(0);
  const auto place = static_cast<size_t>(std::max<std::ptrdiff_t>(behind - order_.begin() - 1, 0));
  const auto id = static_cast<size_t>(order_[place]);
  if (pool_[id].count < kLanes) return pool_[id];
  Block& next = NewBlock(place + 1);
  Block& full = pool_[id];
  if (place + 2 == order_.size() && is_before(full, kLanes - 1)) return next;
  constexpr int kHalf = kLanes / 2;
  const auto split = [](auto* from, auto* to) { std::copy(from + kHalf, from + kLanes, to); };
  split(full.begin, next.begin);
  split(full.end, next.end);
  split(full.from, next.from);
  split(full.to, next.to);
  split(full.id, next.id);
  std::fill(full.from + kHalf, full.from + kLanes, std::numeric_limits<int32_t>::max());
  full.count = next.count = kHalf;
  NoteAll(full);
  NoteAll(next);
  return is_before(next, 0) ? next : full;
}

template <class Number>
void TakenBlocks<Number>::Append(const Block& block, int lane) {
  const bool is_full = order_.empty() || pool_[static_cast<size_t>(order_.back())].count == kFill;
  Block& last = is_full ? NewBlock(order_.size()) : pool_[static_cast<size_t>(order_.back())];
  last.begin[last.count] = block.begin[lane];
  last.end[last.count] = block.end[lane];
  last.from[last.count] = block.from[lane];
  last.to[last.count] = block.to[lane];
  last.id[last.count] = block.id[lane];
  ++last.count;
  ++size_;
  Note(last, last.count - 1);
}

template <class Number>
void TakenBlocks<Number>::Take(SectionRange time, Number begin, Number end, int32_t id) {
  Block& block = BlockFor(begin, time.begin);
  auto place = std::upper_bound(block.begin, block.begin + block.count, begin) - block.begin;
  while (place > 0 && block.begin[place - 1] == begin && block.from[place - 1] > time.begin)
    --place;
  const auto insert = [&](auto* lanes, auto value) {
    std::copy_backward(lanes + place, lanes + block.count, lanes + block.count + 1);
    lanes[place] = value;
  };
  insert(block.begin, begin);
  insert(block.end, end);
  insert(block.from, time.begin);
  insert(block.to, time.end);
  insert(block.id, id);
  ++block.count;
  ++size_;
  Note(block, static_cast<int>(place));
}

template class TakenBlocks<int32_t>;
template class TakenBlocks<int64_t>;

TakenList::TakenList(AddressUnit unit, int32_t sections)
    : unit_(unit.bytes), blocks_(TakenBlocks<int32_t>(sections)) {
  if (!unit.is_narrow) blocks_.emplace<TakenBlocks<int64_t>>(sections);
}

void TakenList::Take(SectionRange time, Bytes begin, Bytes end, size_t id) {
  const auto take = [&]<class Number>(TakenBlocks<Number>& blocks) {
    blocks.Take(time, static_cast<Number>(begin / unit_), static_cast<Number>(end / unit_),
                static_cast<int32_t>(id));
  };
  std::visit(take, blocks_);
}

namespace {

// Calls `visit` with gaps in bytes, as TakenBlocks does.
template <class Number, class Visitor>
void VisitGapsInBytes(const TakenBlocks<Number>& blocks, Bytes unit, SectionRange time, Bytes bytes,
                      Bytes alignment, const Visitor& visit) {
  const auto in_units = static_cast<Number>(std::max<Bytes>(alignment / unit, 1));
  blocks.VisitGaps(time, static_cast<Number>(bytes / unit), in_units,
                   [&](Number begin, Number end) {
                     const bool is_last = end == std::numeric_limits<Number>::max();
                     return visit(AddressRange{begin * unit, is_last ? kNoLimit : end * unit});
                   });
}

// Calls `visit` with what `taken` leaves of gaps, from the lowest one on, which holds `bytes`.
template <class Visitor>
class GapsBetween {
 public:
  GapsBetween(std::span<const AddressRange> taken, Bytes bytes, Bytes alignment,
              const Visitor& visit)
      : taken_(taken), bytes_(bytes), alignment_(alignment), visit_(visit) {}

  // Returns false where `visit` has returned that.
  bool operator()(AddressRange gap) {
    for (; next_ < taken_.size() && taken_[next_].begin < gap.end; ++next_) {
      const AddressRange& taken = taken_[next_];
      if (taken.end <= gap.begin) continue;
      if (!Visit({gap.begin, taken.begin})) return false;
      if (taken.end >= gap.end) return true;  // it can reach into the next gap
      gap.begin = RoundUp(taken.end, alignment_);
    }
    return Visit(gap);
  }

 private:
  bool Visit(AddressRange gap) { return gap.end - gap.begin < bytes_ || visit_(gap); }

  std::span<const AddressRange> taken_;
  size_t next_ = 0;
  Bytes bytes_;
  Bytes alignment_;
  const Visitor& visit_;
};

}  // namespace

template <class Visitor>
void TakenList::VisitGaps(SectionRange time, Bytes bytes, Bytes alignment,
                          std::span<const AddressRange> always, const Visitor& visit) const {
  const auto visit_all = [&](const auto& blocks) {
    if (always.empty()) return VisitGapsInBytes(blocks, unit_, time, bytes, alignment, visit);
    GapsBetween between(always, bytes, alignment, visit);
    VisitGapsInBytes(blocks, unit_, time, bytes, alignment,
                     [&](AddressRange gap) { return between(gap); });
  };
  std::visit(visit_all, blocks_);
}

Bytes TakenList::FirstFit(SectionRange time, Bytes bytes, Bytes alignment,
                          std::span<const AddressRange> always) const {
  Bytes first = 0;
  VisitGaps(time, bytes, alignment, always, [&first](AddressRange gap) {
    first = gap.begin;
    return false;
  });
  return first;
}

Bytes TakenList::BestFit(SectionRange time, Bytes bytes, Bytes alignment,
                         std::span<const AddressRange> always) const {
  AddressRange best = {0, kNoLimit};
  VisitGaps(time, bytes, alignment, always, [&best](AddressRange gap) {
    const bool tighter = gap.end != kNoLimit && gap.end - gap.begin < best.end - best.begin;
    if (tighter || (gap.end == kNoLimit && best.end == kNoLimit)) best = gap;
    return true;
  });
  return best.begin;
}

Bytes TakenList::LastFit(SectionRange time, Bytes bytes, Bytes alignment, Bytes limit) const {
  Bytes last = -1;
  const bool is_narrow = std::holds_alternative<TakenBlocks<int32_t>>(blocks_);
  limit = std::min(limit / unit_, is_narrow ? kMostUnits : kNoLimit) * unit_;
  VisitGaps(time, bytes, alignment, {}, [&](AddressRange gap) {
    const Bytes end = std::min(gap.end, limit);
    if (gap.begin <= end - bytes) last = (end - bytes) & ~(alignment - 1);
    return gap.end < limit;
  });
  return last;
}

void TakenList::Clear() {
  std::visit([](auto& blocks) { blocks.Clear(); }, blocks_);
}

size_t TakenList::size() const {
  return std::visit([](const auto& blocks) { return blocks.size(); }, blocks_);
}

}  // namespace cgrun
