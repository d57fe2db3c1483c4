// Which way runs go, by times that are given.
#include "src/program/lane_choice.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

struct Times {
  double in_lanes, one_by_one;
};

// Runs so often, and returns how many of the last half went in lanes.
int RunsInLanes(LaneChoice& choice, const Times& times, int runs) {
  int count = 0;
  for (int i = 0; i < runs; ++i) {
    if (i >= runs / 2) count += choice.in_lanes();
    choice.Took(choice.in_lanes() ? times.in_lanes : times.one_by_one);
  }
  return count;
}

TEST(LaneChoice, TriesBothWaysFirst) {
  LaneChoice choice;
  int in_lanes = 0;
  for (int i = 0; i < 8; ++i) {
    in_lanes += choice.in_lanes();
    choice.Took(1);
  }
  EXPECT_EQ(in_lanes, 4);
}

TEST(LaneChoice, GoesTheQuickerWayButForTrials) {
  LaneChoice lanes, one_by_one;
  EXPECT_GT(RunsInLanes(lanes, {0.9, 1}, 2000), 960);
  EXPECT_LT(RunsInLanes(one_by_one, {1, 0.9}, 2000), 40);
}

TEST(LaneChoice, SeldomTriesWhatIsMuchSlower) {
  LaneChoice choice;
  EXPECT_LT(RunsInLanes(choice, {5, 1}, 20000), 20);
}

TEST(LaneChoice, FollowsAMachineThatChanges) {
  LaneChoice choice;
  EXPECT_GT(RunsInLanes(choice, {0.8, 1}, 1000), 470);
  EXPECT_LT(RunsInLanes(choice, {4, 1.1}, 1000), 10);      // others want the processors
  EXPECT_GT(RunsInLanes(choice, {0.8, 1}, 40000), 19000);  // and have gone again
}

// One time in ten that is far off does not turn it for long.
TEST(LaneChoice, TakesOneSlowRunForWhatItIs) {
  LaneChoice choice;
  int in_lanes = 0;
  for (int i = 0; i < 4000; ++i) {
    in_lanes += choice.in_lanes();
    const double slow = i % 97 == 0 ? 20 : 1;
    choice.Took(slow * (choice.in_lanes() ? 0.8 : 1.0));
  }
  EXPECT_GT(in_lanes, 2800);
}

}  // namespace
}  // namespace cgrun
