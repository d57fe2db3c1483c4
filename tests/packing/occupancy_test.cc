// Compares the lists of taken bytes, and the sections of time, with plain loops.
#include "src/packing/planners/occupancy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "src/packing/planners/time_sections.h"
#include "tests/packing/random_problem.h"

namespace cgrun {
namespace {

// Does what Occupancy does, with a table of flags.
class Grid {
 public:
  Grid(int32_t sections, Bytes bytes)
      : taken_(static_cast<size_t>(sections), std::vector<bool>(static_cast<size_t>(bytes))) {}

  bool Free(SectionRange time, Bytes offset, Bytes bytes) const {
    for (int32_t t = time.begin; t < time.end; ++t) {
      for (Bytes b = offset; b < offset + bytes; ++b) {
        if (taken_[static_cast<size_t>(t)][static_cast<size_t>(b)]) return false;
      }
    }
    return true;
  }

  Bytes FirstFit(SectionRange time, Bytes bytes, Bytes alignment) const {
    Bytes offset = 0;
    while (!Free(time, offset, bytes)) offset += alignment;
    return offset;
  }

  Bytes BestFit(SectionRange time, Bytes bytes, Bytes alignment) const {
    Bytes best = 0, least_room = 0;
    const Bytes last = static_cast<Bytes>(taken_[0].size()) - bytes;
    for (Bytes offset = 0; offset <= last; offset += alignment) {
      if (!Free(time, offset, bytes)) continue;
      Bytes end = offset + bytes;
      while (end < static_cast<Bytes>(taken_[0].size()) && Free(time, end, 1)) ++end;
      const bool top = end == static_cast<Bytes>(taken_[0].size());
      const Bytes room = top ? kNoLimit : end - offset;
      if (least_room == 0 || room < least_room) best = offset, least_room = room;
      offset = RoundUp(end, alignment) - alignment;
    }
    return best;
  }

  Bytes LastFit(SectionRange time, Bytes bytes, Bytes alignment, Bytes limit) const {
    for (Bytes offset = limit - bytes; offset >= 0; --offset) {
      if (offset % alignment == 0 && Free(time, offset, bytes)) return offset;
    }
    return -1;
  }

  void Take(SectionRange time, Bytes offset, Bytes bytes) {
    for (int32_t t = time.begin; t < time.end; ++t) {
      for (Bytes b = offset; b < offset + bytes; ++b) {
        taken_[static_cast<size_t>(t)][static_cast<size_t>(b)] = true;
      }
    }
  }

 private:
  std::vector<std::vector<bool>> taken_;
};

struct Shape {
  int32_t sections;
  int64_t longest;  // of most lifespans; some are of any length
};

SectionRange RandomTime(Dice& dice, Shape shape) {
  const auto begin = static_cast<int32_t>(dice.Between(0, shape.sections - 1));
  const int64_t length = dice.Between(1, dice.OneIn(9) ? shape.sections : shape.longest);
  return {begin, static_cast<int32_t>(std::min<int64_t>(begin + length, shape.sections))};
}

// Asks both for 60 buffers and takes their answers, or a place higher up, so that gaps arise.
// Returns how often a gap was the answer.
int64_t Compare(uint64_t seed, Shape shape) {
  Dice dice(RandomKey(seed, "occupancy"));
  std::vector<SectionRange> times;
  for (int i = 0; i < 60; ++i) times.push_back(RandomTime(dice, shape));
  Occupancy occupancy(times);
  TakenList list;
  Grid grid(shape.sections, 3000);
  int64_t in_gaps = 0;
  Bytes top = 0;
  for (const SectionRange& time : times) {
    const Bytes bytes = dice.Between(1, 20), alignment = Bytes{1} << dice.Between(0, 3);
    const Bytes first = occupancy.FirstFit(time, bytes, alignment);
    const Bytes best = occupancy.BestFit(time, bytes, alignment);
    EXPECT_EQ(first, grid.FirstFit(time, bytes, alignment)) << "seed " << seed;
    EXPECT_EQ(best, grid.BestFit(time, bytes, alignment)) << "seed " << seed;
    const Bytes limit = dice.Between(0, 600);
    EXPECT_EQ(list.LastFit(time, bytes, alignment, limit),
              grid.LastFit(time, bytes, alignment, limit))
        << "seed " << seed;
    Bytes offset = dice.OneIn(2) ? first : best;
    if (dice.OneIn(5)) offset = occupancy.FirstFit(time, bytes + 60, alignment);
    in_gaps += offset + bytes < top;
    top = std::max(top, offset + bytes);
    occupancy.Take(time, offset, bytes);
    list.Take(time, offset, offset + bytes);
    grid.Take(time, offset, bytes);
  }
  return in_gaps;
}

TEST(Occupancy, AgreesWithAPlainTable) {
  int64_t in_gaps = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    for (Shape shape : {Shape{1, 1}, Shape{13, 13}, Shape{200, 3}, Shape{300, 12}}) {
      in_gaps += Compare(seed, shape);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(in_gaps, 2000);
}

// Lifespans as in training: half of them wait for the backward pass, and so hold all between.
// The others live for up to four sections, but for a few of up to `longest`.
std::vector<SectionRange> NestedTimes(Dice& dice, int32_t count, int64_t longest) {
  std::vector<SectionRange> times;
  for (int32_t i = 0; i < count / 2; ++i) times.push_back({i, count - i});
  for (int32_t i = 0; i < count / 2; ++i) {
    const auto begin = static_cast<int32_t>(dice.Between(0, count - 1));
    const int64_t length = dice.Between(1, dice.OneIn(20) ? longest : 4);
    times.push_back({begin, static_cast<int32_t>(std::min<int64_t>(begin + length, count))});
  }
  return times;
}

TEST(Occupancy, AgreesWithOneListWhereManyLiveLong) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Dice dice(RandomKey(seed, "nested"));
    const std::vector<SectionRange> times = NestedTimes(dice, 2000, 250);
    Occupancy occupancy(times, {1, true});
    TakenList list({1, true});
    int64_t in_gaps = 0;
    Bytes top = 0;
    for (size_t i = 0; i < times.size(); ++i) {
      // In the first two of the seeds the long ones come first.
      const SectionRange& time = times[seed < 2 ? i : i * 757 % times.size()];
      const Bytes bytes = dice.Between(1, 9), alignment = Bytes{1} << dice.Between(0, 3);
      const Bytes first = list.FirstFit(time, bytes, alignment);
      const Bytes best = list.BestFit(time, bytes, alignment);
      ASSERT_EQ(occupancy.FirstFit(time, bytes, alignment), first) << "seed " << seed;
      ASSERT_EQ(occupancy.BestFit(time, bytes, alignment), best) << "seed " << seed;
      Bytes offset = dice.OneIn(2) ? first : best;
      if (dice.OneIn(5)) offset = list.FirstFit(time, bytes + 60, alignment);
      in_gaps += offset + bytes < top;
      top = std::max(top, offset + bytes);
      occupancy.Take(time, offset, bytes);
      list.Take(time, offset, offset + bytes);
    }
    EXPECT_GT(in_gaps, 500);
  }
}

// One list would take sixteen times as long for four times as many.
TEST(Occupancy, TakesAboutAsLongForEachWhereManyLiveLong) {
  const auto seconds = [](int32_t count) {
    Dice dice(RandomKey(7, "nested"));
    const std::vector<SectionRange> times = NestedTimes(dice, count, 4);
    const std::clock_t begin = std::clock();
    Occupancy occupancy(times, {1, true});
    for (const SectionRange& time : times) {
      occupancy.Take(time, occupancy.FirstFit(time, 1, 1), 1);
    }
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  double few = seconds(20'000), many = seconds(80'000);
  for (int tries = 0; tries < 2 && many > 9 * few; ++tries) {
    few = std::min(few, seconds(20'000));
    many = std::min(many, seconds(80'000));
  }
  EXPECT_LT(many, 9 * few + 0.02);
}

TEST(TimeSections, AgreeWithPlainLoops) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const MemoryProblem problem = RandomProblem(seed, 25);
    const TimeSections sections(problem);
    const std::vector<Bytes> totals = sections.LargestTotals();
    const std::vector<int64_t> conflicts = sections.ConflictCounts();
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      const Buffer& a = problem.buffers[i];
      if (a.bytes == 0) continue;
      Bytes largest = 0;
      int64_t count = 0;
      for (size_t j = 0; j < problem.buffers.size(); ++j) {
        const Buffer& b = problem.buffers[j];
        if (b.bytes == 0) continue;
        const bool in_time = a.lower < b.upper && b.lower < a.upper;
        const SectionRange s = sections.ranges()[i], t = sections.ranges()[j];
        ASSERT_EQ(s.begin < t.end && t.begin < s.end, in_time) << "seed " << seed;
        count += in_time;
      }
      for (TimePoint step = a.lower; step < a.upper; ++step) {
        Bytes total = 0;
        for (const Buffer& b : problem.buffers) {
          if (b.lower <= step && step < b.upper) total += b.bytes;
        }
        largest = std::max(largest, total);
      }
      ASSERT_EQ(conflicts[i], count) << "seed " << seed;
      ASSERT_EQ(totals[i], largest) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace cgrun
