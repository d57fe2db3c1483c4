// PhaseTimes: who is told what, and that no second counts twice.
#include "src/base/phase_times.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

constexpr double kLeast = 0.005;  // seconds of a phase that works

void Work() {
  for (const double begin = ThreadSeconds(); ThreadSeconds() < begin + kLeast;) {
  }
}

TEST(PhaseTimes, TellsNothingWhereNobodyAsks) {
  { const PhaseTimer timer("before"); }
  const PhaseTimes times;
  EXPECT_TRUE(times.phases().empty());
}

TEST(PhaseTimes, LeavesOutWhatIsWithin) {
  PhaseTimes times;
  const double begin = ThreadSeconds();
  {
    const PhaseTimer outer("outer");
    Work();
    for (int i = 0; i < 2; ++i) {
      const PhaseTimer inner("inner");
      Work();
    }
  }
  const double seconds = ThreadSeconds() - begin;
  ASSERT_EQ(times.phases().size(), 2u);
  EXPECT_EQ(times.phases()[0].name, "outer");
  EXPECT_EQ(times.phases()[1].name, "inner");
  EXPECT_GE(times.phases()[0].seconds, kLeast);
  EXPECT_GE(times.phases()[1].seconds, 2 * kLeast);
  EXPECT_LE(times.phases()[0].seconds + times.phases()[1].seconds, seconds);
}

}  // namespace
}  // namespace cgrun
