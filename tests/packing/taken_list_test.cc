// The list of what is taken against plain loops: enough of it for many blocks, in narrow and in
// wide numbers, of which the narrow ones go through vectors where the processor has them.
#include "src/packing/planners/taken_list.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/packing/random_problem.h"

namespace cgrun {
namespace {

struct Taken {
  SectionRange time;
  Bytes begin, end;
};

// The same answers, from every place that could be one.
class PlainList {
 public:
  void Take(SectionRange time, Bytes begin, Bytes end) { taken_.push_back({time, begin, end}); }

  Bytes FirstFit(SectionRange time, Bytes bytes, Bytes alignment) const {
    Bytes first = kNoLimit;
    for (Bytes offset : Rests(time, alignment)) {
      if (Free(time, offset, bytes)) first = std::min(first, offset);
    }
    return first;
  }

  Bytes BestFit(SectionRange time, Bytes bytes, Bytes alignment) const {
    Bytes best = kNoLimit, least_room = kNoLimit;
    for (Bytes offset : Rests(time, alignment)) {
      if (!Free(time, offset, bytes)) continue;
      Bytes end = kNoLimit;
      for (const Taken& taken : taken_) {
        if (Meet(taken, time) && taken.begin >= offset) end = std::min(end, taken.begin);
      }
      const Bytes room = end == kNoLimit ? kNoLimit : end - offset;
      if (room > least_room || (room == least_room && offset >= best)) continue;
      best = offset;
      least_room = room;
    }
    return best;
  }

  Bytes LastFit(SectionRange time, Bytes bytes, Bytes alignment, Bytes limit) const {
    std::vector<Bytes> ends = {limit};
    for (const Taken& taken : taken_) {
      if (Meet(taken, time)) ends.push_back(std::min(taken.begin, limit));
    }
    Bytes last = -1;
    for (Bytes end : ends) {
      const Bytes offset = (end - bytes) & ~(alignment - 1);
      if (offset >= 0 && Free(time, offset, bytes)) last = std::max(last, offset);
    }
    return last;
  }

 private:
  static bool Meet(const Taken& taken, SectionRange time) {
    return taken.time.begin < time.end && time.begin < taken.time.end;
  }

  bool Free(SectionRange time, Bytes offset, Bytes bytes) const {
    return std::ranges::none_of(taken_, [&](const Taken& taken) {
      return Meet(taken, time) && taken.begin < offset + bytes && offset < taken.end;
    });
  }

  // Returns the offsets at which something can rest on the bottom or on what it meets.
  std::vector<Bytes> Rests(SectionRange time, Bytes alignment) const {
    std::vector<Bytes> rests = {0};
    for (const Taken& taken : taken_) {
      if (Meet(taken, time)) rests.push_back(RoundUp(taken.end, alignment));
    }
    return rests;
  }

  std::vector<Taken> taken_;
};

// Returns how often a gap was the answer. Every second list knows the sections of its time axis; in
// every second of both, most of what is taken lives through the middle, so that blocks are full.
int64_t Compare(uint64_t seed, AddressUnit unit, int count) {
  Dice dice(RandomKey(seed, "taken"));
  TakenList list(unit, seed % 2 == 0 ? 0 : 100);
  const bool is_full = seed % 4 >= 2;
  list.Take({0, 100}, 0, unit.bytes);
  list.Clear();
  PlainList plain;
  Bytes top = 0;
  int64_t in_gaps = 0;
  for (int i = 0; i < count; ++i) {
    const auto begin = static_cast<int32_t>(dice.Between(0, 99));
    SectionRange time = {begin, static_cast<int32_t>(dice.Between(begin + 1, 100))};
    if (is_full && !dice.OneIn(8)) time = {begin / 3, 100 - begin / 3};
    const Bytes bytes = unit.bytes * dice.Between(1, 30);
    const Bytes alignment = Bytes{1} << dice.Between(0, 8);
    const Bytes limit = dice.Between(0, top + unit.bytes);
    const Bytes in_units = limit / unit.bytes * unit.bytes;
    const Bytes first = list.FirstFit(time, bytes, alignment);
    const Bytes best = list.BestFit(time, bytes, alignment);
    const Bytes last = list.LastFit(time, bytes, alignment, limit);
    EXPECT_EQ(first, plain.FirstFit(time, bytes, alignment)) << "seed " << seed;
    EXPECT_EQ(best, plain.BestFit(time, bytes, alignment)) << "seed " << seed;
    EXPECT_EQ(last, plain.LastFit(time, bytes, alignment, in_units)) << "seed " << seed;
    Bytes offset = dice.OneIn(2) ? first : best;
    if (last >= 0 && dice.OneIn(3)) offset = last;
    in_gaps += offset + bytes < top;
    top = std::max(top, offset + bytes);
    list.Take(time, offset, offset + bytes);
    plain.Take(time, offset, offset + bytes);
    EXPECT_EQ(list.size(), static_cast<size_t>(i + 1));
  }
  return in_gaps;
}

TEST(TakenList, AgreesWithPlainLoops) {
  for (const AddressUnit unit : {AddressUnit{1, true}, {1, false}, {64, true}, {64, false}}) {
    int64_t in_gaps = Compare(1, unit, 400) + Compare(3, unit, 400);
    for (uint64_t seed = 2; seed < 20 && !HasFailure(); ++seed) {
      in_gaps += Compare(seed, unit, 60);
    }
    EXPECT_GT(in_gaps, 500);
  }
}

TEST(TakenList, CountsFarAwayPlacesInWideNumbers) {
  constexpr Bytes kFar = Bytes{1} << 60;
  TakenList list;
  list.Take({0, 2}, 0, kFar);
  list.Take({1, 3}, kFar + 64, 2 * kFar);
  EXPECT_EQ(list.FirstFit({1, 2}, 64, 64), kFar);
  EXPECT_EQ(list.FirstFit({1, 2}, 65, 64), 2 * kFar);
  EXPECT_EQ(list.LastFit({2, 3}, 64, 64, 3 * kFar), 3 * kFar - 64);
}

TEST(AddressUnit, DividesWhatThereIs) {
  const auto unit_of = [](std::vector<Buffer> buffers) {
    return UnitOf({std::move(buffers), {}}).bytes;
  };
  EXPECT_EQ(unit_of({}), 1);
  EXPECT_EQ(unit_of({{0, 0, 1, 64, {}, ""}}), 1);
  EXPECT_EQ(unit_of({{640, 0, 1, 64, {}, ""}, {192, 0, 1, 64, {}, ""}}), 64);
  EXPECT_EQ(unit_of({{640, 0, 1, 1, {}, ""}, {192, 0, 1, 1, {}, ""}}), 64);
  EXPECT_EQ(unit_of({{640, 0, 1, 64, {}, ""}, {100, 0, 1, 64, {}, ""}}), 4);
  EXPECT_EQ(unit_of({{640, 0, 1, 16, 1600, ""}}), 320);
  EXPECT_EQ(unit_of({{96, 0, 1, 64, {}, ""}}), 32);
}

TEST(AddressUnit, IsNarrowWhereThatHoldsAnyPlan) {
  const auto is_narrow = [](std::vector<Buffer> buffers) {
    return UnitOf({std::move(buffers), {}}).is_narrow;
  };
  constexpr Bytes kMany = Bytes{1} << 29;
  EXPECT_TRUE(is_narrow({}));
  EXPECT_TRUE(is_narrow({{kMany, 0, 1, 1, {}, ""}, {1, 0, 1, 1, {}, ""}}));
  EXPECT_FALSE(is_narrow({{kMany, 0, 1, 1, {}, ""}, {kMany + 1, 0, 1, 1, {}, ""}}));
  EXPECT_FALSE(is_narrow({{1, 0, 1, 1, 2 * kMany, ""}}));
  EXPECT_TRUE(is_narrow({{kMany, 0, 1, 64, {}, ""}, {kMany, 0, 1, 64, {}, ""}}));
  EXPECT_FALSE(is_narrow({{kNoLimit / 2, 0, 1, 1, {}, ""}, {1, 0, 1, 1, {}, ""}}));
}

}  // namespace
}  // namespace cgrun
