// The generator of random packing problems and the slow answers.
#include "tests/plan/random_problem.h"

#include <algorithm>
#include <limits>
#include <numeric>

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

}  // namespace

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

}  // namespace cgrun
