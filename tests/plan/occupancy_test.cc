// The segment tree of taken bytes, and the sections of time, against plain loops.
#include "src/plan/planners/occupancy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/plan/planners/time_sections.h"
#include "tests/plan/random_problem.h"

namespace cgrun {
namespace {

// What Occupancy does, as a table of flags.
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

SectionRange RandomTime(Dice& dice, int32_t sections) {
  const auto begin = static_cast<int32_t>(dice.Between(0, sections - 1));
  return {begin, static_cast<int32_t>(dice.Between(begin + 1, sections))};
}

TEST(Occupancy, AgreesWithAPlainTable) {
  int64_t in_gaps = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Dice dice(RandomKey(seed, "occupancy"));
    const auto sections = static_cast<int32_t>(dice.Between(1, 13));
    const Bytes granularity = Bytes{1} << dice.Between(0, 2);
    Occupancy occupancy(sections, granularity);
    Grid grid(sections, 2000);
    Bytes top = 0;
    for (int i = 0; i < 40; ++i) {
      const SectionRange time = RandomTime(dice, sections);
      const Bytes bytes = dice.Between(1, 20);
      const Bytes alignment = granularity << dice.Between(0, 2);
      const Bytes first = occupancy.FirstFit(time, bytes, alignment);
      const Bytes best = occupancy.BestFit(time, bytes, alignment);
      ASSERT_EQ(first, grid.FirstFit(time, bytes, alignment)) << "seed " << seed << " step " << i;
      ASSERT_EQ(best, grid.BestFit(time, bytes, alignment)) << "seed " << seed << " step " << i;
      in_gaps += best + bytes < top;
      const Bytes offset = dice.OneIn(2) ? first : best;
      const Bytes lifted = dice.OneIn(5) ? occupancy.FirstFit(time, bytes + 60, alignment) : offset;
      occupancy.Take(time, lifted, bytes);
      grid.Take(time, lifted, bytes);
      top = std::max(top, lifted + bytes);
    }
  }
  EXPECT_GT(in_gaps, 1000);
}

TEST(ByteSet, MergesWhatTouches) {
  ByteSet set;
  set.Add({10, 20});
  set.Add({30, 40});
  EXPECT_EQ(set.FreeFrom(0, 10, 1), 0);
  EXPECT_EQ(set.FreeFrom(5, 10, 1), 20);
  EXPECT_EQ(set.FreeFrom(5, 11, 1), 40);
  EXPECT_EQ(set.NextBegin(20), 30);
  set.Add({20, 30});
  EXPECT_EQ(set.NextBegin(20), 10);
  EXPECT_EQ(set.FreeFrom(12, 1, 16), 48);
  EXPECT_EQ(set.NextBegin(40), kNoLimit);
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
