// The generator of random packing problems and the slow answers.
#include "tests/packing/random_problem.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

namespace cgrun {
namespace {

// Fixes some offsets, stacked so that they cannot collide.
void FixSome(Dice& dice, MemoryProblem& problem) {
  Bytes end = 0;
  for (Buffer& buffer : problem.buffers) {
    if (!dice.OneIn(4)) continue;
    buffer.offset = RoundUp(end + dice.Between(0, 2) * dice.Between(0, 100), buffer.alignment);
    end = *buffer.offset + buffer.bytes;
  }
}

bool OverlapInTime(const Buffer& a, const Buffer& b) {
  return a.lower < b.upper && b.lower < a.upper;
}

// First fit of buffer `i` beside those in `placed`, found by moving up past one obstacle at a time.
Bytes SlowFirstFit(const MemoryProblem& problem, size_t i, const std::vector<size_t>& placed,
                   const std::vector<Bytes>& offsets) {
  const Buffer& buffer = problem.buffers[i];
  Bytes offset = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t j : placed) {
      const Buffer& other = problem.buffers[j];
      const bool above = offset >= offsets[j] + other.bytes;
      const bool below = offset + buffer.bytes <= offsets[j];
      if (!OverlapInTime(buffer, other) || above || below) continue;
      offset = RoundUp(offsets[j] + other.bytes, buffer.alignment);
      moved = true;
    }
  }
  return offset;
}

struct Tile {
  TimePoint lower, upper;
  Bytes begin, end;
  int64_t area() const { return (upper - lower) * (end - begin); }
};

// Two or five tiles in place of one; itself where it is too small.
std::vector<Tile> Cut(Dice& dice, const Tile& tile) {
  const auto [lower, upper, begin, end] = tile;
  const int64_t steps = upper - lower, bytes = end - begin;
  if (std::min(steps, bytes) >= 3 && dice.OneIn(2)) {
    const TimePoint t1 = dice.Between(lower + 1, upper - 2), t2 = dice.Between(t1 + 1, upper - 1);
    const Bytes b1 = dice.Between(begin + 1, end - 2), b2 = dice.Between(b1 + 1, end - 1);
    return {{lower, t2, begin, b1},
            {t2, upper, begin, b2},
            {t1, upper, b2, end},
            {lower, t1, b1, end},
            {t1, t2, b1, b2}};
  }
  if (bytes >= 2 && (steps < 2 || dice.OneIn(2))) {
    const Bytes middle = dice.Between(begin + 1, end - 1);
    return {{lower, upper, begin, middle}, {lower, upper, middle, end}};
  }
  if (steps < 2) return {tile};
  const TimePoint middle = dice.Between(lower + 1, upper - 1);
  return {{lower, middle, begin, end}, {middle, upper, begin, end}};
}

// Places what is left of a problem, from the bottom up.
class FromBelow {
 public:
  explicit FromBelow(const MemoryProblem& problem)
      : problem_(problem), bound_(SlowLowerBound(problem)), offsets_(problem.buffers.size()) {
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      if (problem.buffers[i].bytes > 0) left_.push_back(i);
    }
    Place(0, 0, 0);
  }
  Bytes best() const { return best_; }

 private:
  // Offsets do not fall, and among equal ones ids rise: each plan is built in one way.
  void Place(Bytes last_offset, size_t last, Bytes peak) {
    if (peak >= best_) return;
    if (left_.empty()) best_ = peak;
    for (size_t i : left_) {
      const std::optional<Bytes> offset = Floor(i);
      if (!offset || std::max(*offset, last_offset) + problem_.buffers[i].bytes >= best_) return;
    }
    for (size_t k = 0; k < left_.size() && best_ > bound_; ++k) {
      const size_t i = left_[k];
      const std::optional<Bytes> offset = Floor(i);
      if (!offset || *offset < last_offset || (*offset == last_offset && i < last)) continue;
      offsets_[i] = *offset;
      left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(k));
      placed_.push_back(i);
      Place(*offset, i, std::max(peak, *offset + problem_.buffers[i].bytes));
      placed_.pop_back();
      left_.insert(left_.begin() + static_cast<std::ptrdiff_t>(k), i);
    }
  }

  // Above all that is placed; nothing where a fixed buffer cannot be there.
  std::optional<Bytes> Floor(size_t i) const {
    const Buffer& buffer = problem_.buffers[i];
    Bytes floor = 0;
    for (size_t j : placed_) {
      if (OverlapInTime(buffer, problem_.buffers[j])) {
        floor = std::max(floor, offsets_[j] + problem_.buffers[j].bytes);
      }
    }
    if (!buffer.offset) return RoundUp(floor, buffer.alignment);
    return floor <= *buffer.offset ? buffer.offset : std::nullopt;
  }

  const MemoryProblem& problem_;
  const Bytes bound_;
  std::vector<Bytes> offsets_;
  std::vector<size_t> left_, placed_;
  Bytes best_ = std::numeric_limits<Bytes>::max();
};

}  // namespace

MemoryProblem RandomTiling(uint64_t seed, size_t count, Bytes height) {
  constexpr TimePoint kSteps = 1024;
  Dice dice(RandomKey(seed, "tiling"));
  std::vector<Tile> tiles = {{0, kSteps, 0, height}};
  while (tiles.size() < count) {
    // The largest of a few: some stay large, most become small.
    auto tile = tiles.begin() + dice.Between(0, std::ssize(tiles) - 1);
    for (int tries = 0; tries < 3; ++tries) {
      const auto other = tiles.begin() + dice.Between(0, std::ssize(tiles) - 1);
      if (other->area() > tile->area()) tile = other;
    }
    const std::vector<Tile> cut = Cut(dice, *tile);
    *tile = cut.front();
    tiles.insert(tiles.end(), cut.begin() + 1, cut.end());
  }
  MemoryProblem problem;
  for (const Tile& tile : tiles) {
    problem.buffers.push_back({tile.end - tile.begin, tile.lower, tile.upper, 1, {}, ""});
  }
  return Permuted(problem, RandomPermutation(RandomKey(seed, "order"), std::ssize(tiles)));
}

MemoryProblem RandomProblem(uint64_t seed, int64_t most_buffers) {
  Dice dice(RandomKey(seed, "memory problem"));
  const int64_t count = dice.Between(0, most_buffers);
  const int64_t steps = dice.Between(1, 2 * most_buffers);
  const int64_t longest = dice.OneIn(2) ? steps : std::max<int64_t>(1, steps / 8);
  const int64_t grain = dice.OneIn(2) ? 64 : 1;
  const int64_t alignments = dice.Between(1, 3);
  MemoryProblem problem;
  for (int64_t i = 0; i < count; ++i) {
    Buffer buffer;
    buffer.bytes = dice.OneIn(20) ? 0 : dice.Between(1, 12) * dice.Between(1, 12) * grain;
    buffer.lower = dice.Between(0, steps - 1);
    buffer.upper = std::min(steps, buffer.lower + dice.Between(1, longest));
    if (dice.OneIn(12)) buffer.lower = 0, buffer.upper = steps;
    if (alignments == 1) buffer.alignment = grain;
    if (alignments == 3) buffer.alignment = int64_t{1} << dice.Between(0, 8);
    problem.buffers.push_back(buffer);
  }
  if (dice.OneIn(3)) FixSome(dice, problem);
  return problem;
}

MemoryProblem Permuted(const MemoryProblem& problem, const std::vector<int64_t>& order) {
  MemoryProblem permuted;
  for (int64_t i : order) permuted.buffers.push_back(problem.buffers[static_cast<size_t>(i)]);
  return permuted;
}

Bytes SlowLowerBound(const MemoryProblem& problem) {
  Bytes bound = 0;
  for (const Buffer& at : problem.buffers) {
    if (at.bytes > 0 && at.offset) bound = std::max(bound, *at.offset + at.bytes);
    for (const Buffer& least : problem.buffers) {
      Bytes sum = 0, padding = 0;
      for (const Buffer& buffer : problem.buffers) {
        const bool alive = buffer.lower <= at.lower && at.lower < buffer.upper;
        if (!alive || buffer.bytes == 0 || buffer.alignment < least.alignment) continue;
        const Bytes rounded = RoundUp(buffer.bytes, least.alignment);
        sum += rounded;
        padding = std::max(padding, rounded - buffer.bytes);
      }
      bound = std::max(bound, sum - padding);
    }
  }
  return bound;
}

Bytes OptimalPeak(const MemoryProblem& problem) {
  std::vector<size_t> fixed, order;
  std::vector<Bytes> offsets(problem.buffers.size());
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (problem.buffers[i].bytes == 0) continue;
    (problem.buffers[i].offset ? fixed : order).push_back(i);
    offsets[i] = problem.buffers[i].offset.value_or(0);
  }
  Bytes best = std::numeric_limits<Bytes>::max();
  do {
    std::vector<size_t> placed = fixed;
    for (size_t i : order) {
      offsets[i] = SlowFirstFit(problem, i, placed, offsets);
      placed.push_back(i);
    }
    best = std::min(best, PeakBytes(problem, offsets));
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

Bytes OptimalPeakFromBelow(const MemoryProblem& problem) {
  return problem.buffers.empty() ? 0 : FromBelow(problem).best();
}

}  // namespace cgrun
