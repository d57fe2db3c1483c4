// Tests which way runs go, with given times.
#include "src/program/stream_choice.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

struct Times {
  double in_streams, one_by_one;
};

// Runs so often, and returns how many of the last half went in streams.
int RunsInStreams(StreamChoice& choice, const Times& times, int runs) {
  int count = 0;
  for (int i = 0; i < runs; ++i) {
    if (i >= runs / 2) count += choice.in_streams();
    choice.Took(choice.in_streams() ? times.in_streams : times.one_by_one);
  }
  return count;
}

TEST(StreamChoice, TriesBothWaysFirst) {
  StreamChoice choice;
  int in_streams = 0;
  for (int i = 0; i < 8; ++i) {
    in_streams += choice.in_streams();
    choice.Took(1);
  }
  EXPECT_EQ(in_streams, 4);
}

TEST(StreamChoice, GoesTheQuickerWayButForTrials) {
  StreamChoice streams, one_by_one;
  EXPECT_GT(RunsInStreams(streams, {0.9, 1}, 2000), 960);
  EXPECT_LT(RunsInStreams(one_by_one, {1, 0.9}, 2000), 40);
}

TEST(StreamChoice, SeldomTriesWhatIsMuchSlower) {
  StreamChoice choice;
  EXPECT_LT(RunsInStreams(choice, {5, 1}, 20000), 20);
}

TEST(StreamChoice, FollowsAMachineThatChanges) {
  StreamChoice choice;
  EXPECT_GT(RunsInStreams(choice, {0.8, 1}, 1000), 470);
  EXPECT_LT(RunsInStreams(choice, {4, 1.1}, 1000), 10);      // others want the processors
  EXPECT_GT(RunsInStreams(choice, {0.8, 1}, 40000), 19000);  // and have gone again
}

// One time in ten that is far off does not turn it for long.
TEST(StreamChoice, TakesOneSlowRunForWhatItIs) {
  StreamChoice choice;
  int in_streams = 0;
  for (int i = 0; i < 4000; ++i) {
    in_streams += choice.in_streams();
    const double slow = i % 97 == 0 ? 20 : 1;
    choice.Took(slow * (choice.in_streams() ? 0.8 : 1.0));
  }
  EXPECT_GT(in_streams, 2800);
}

}  // namespace
}  // namespace cgrun
