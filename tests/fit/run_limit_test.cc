// Tests which limit counts, and how a run that does not keep it is refused.
#include "src/fit/run_limit.h"

#include <gtest/gtest.h>

#include "src/device/no_room.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

RunMemory ARun() {
  RunMemory run;
  run.arena = 100 * kMiB;
  run.data = 20 * kMiB;
  run.base = 10 * kMiB;
  run.start = 150 * kMiB;
  run.beside = {.code = 30 * kMiB, .kernel = 5 * kMiB, .reserved = 700 * kMiB};
  return run;
}

TEST(RunLimit, TheLeastOneIsNamed) {
  const RunMemory like = ARun();
  EXPECT_EQ(LeastLimit({.machine = 200 * kMiB}, like).kind, LimitKind::kMachine);
  const RunLimit group = LeastLimit({.machine = 300 * kMiB, .group = 250 * kMiB}, like);
  EXPECT_EQ(group.kind, LimitKind::kGroup);
  EXPECT_EQ(group.bytes, LargestPeak({.group = 250 * kMiB}, like));
  const HostLimits few_addresses = {.group = 250 * kMiB, .address_space = 800 * kMiB};
  EXPECT_EQ(LeastLimit(few_addresses, like).kind, LimitKind::kAddresses);
}

TEST(RunLimit, WhatWasTakenAtTheStartCountsAgainstACapAlone) {
  const RunMemory run = ARun();
  EXPECT_TRUE(Fits(run, {130 * kMiB, LimitKind::kGroup}));
  EXPECT_FALSE(Fits(run, {130 * kMiB, LimitKind::kAsked}));
  EXPECT_FALSE(Fits(run, {129 * kMiB, LimitKind::kMachine}));
}

TEST(RunLimit, WhatIsEnoughIsSaidAsTheLimitIsSet) {
  RunMemory run = ARun();
  run.start = 0;
  EXPECT_EQ((RunLimit{0, LimitKind::kAsked}).EnoughFor(run), "`--memory 130MiB`");
  EXPECT_EQ((RunLimit{0, LimitKind::kMachine}).EnoughFor(run), "130MiB of memory");
  EXPECT_EQ((RunLimit{0, LimitKind::kGroup}).EnoughFor(run), "a control group of 165 MiB");
  EXPECT_EQ((RunLimit{0, LimitKind::kAddresses}).EnoughFor(run), "`ulimit -v 849920`");
}

TEST(RunLimit, ACapIsNamedByItsFlag) {
  RunMemory run = ARun();
  run.start = 0;
  EXPECT_FALSE(CapOf(SmallModel({})));
  const auto cap = CapOf(SmallModel({"train.memory=4MiB"}));
  ASSERT_TRUE(cap);
  EXPECT_EQ(cap->bytes, 4 * kMiB);
  EXPECT_EQ(cap->EnoughFor(run), "`--memory 130MiB`");
  RunLimit of_host = *cap;
  of_host.flag = "--host-memory";
  EXPECT_EQ(of_host.EnoughFor(run), "`--host-memory 130MiB`");
}

TEST(RunLimit, TheBrokenLimitIsTheCapOrTheLeastOther) {
  const RunMemory run = ARun();  // 130 MiB in steps, and 150 MiB at the start
  const HostLimits enough = {.machine = 130 * kMiB}, little = {.machine = 129 * kMiB};
  EXPECT_FALSE(BrokenLimit(run, enough));
  EXPECT_EQ(BrokenLimit(run, little)->kind, LimitKind::kMachine);
  EXPECT_FALSE(BrokenLimit(run, enough, RunLimit{150 * kMiB}));
  EXPECT_EQ(BrokenLimit(run, little, RunLimit{150 * kMiB})->kind, LimitKind::kMachine);
  EXPECT_EQ(BrokenLimit(run, enough, RunLimit{149 * kMiB})->kind, LimitKind::kAsked);
  EXPECT_EQ(BrokenLimit(run, little, RunLimit{149 * kMiB})->bytes, 149 * kMiB);
}

TEST(RunLimit, ARefusalNamesTheLimitAndThePartsAndWhatIsEnough) {
  RunMemory run = ARun();
  run.start = 0;
  try {
    RefuseRun(run, {129 * kMiB, LimitKind::kGroup}, nullptr, {"a smaller batch", "fewer samples"});
  } catch (const NoRoom& error) {
    EXPECT_STREQ(error.what(),
                 "the run takes 130 MiB, more than what the control group leaves, 129 MiB: base "
                 "10.0 MiB, data 20.0 MiB, arena 100 MiB");
    EXPECT_EQ(error.help(), "a control group of 165 MiB is enough; a smaller batch");
  }
  run.data = 200 * kMiB;
  try {
    RefuseRun(run, {129 * kMiB, LimitKind::kAsked}, nullptr, {"a smaller batch", "fewer samples"});
  } catch (const InputError& error) {
    EXPECT_EQ(error.help(), "`--memory 310MiB` is enough; fewer samples");
  }
}

TEST(RunLimit, ARefusalOfTheStartNamesIt) {
  try {
    RefuseRun(ARun(), {129 * kMiB, LimitKind::kAsked}, nullptr, {"a smaller batch", "fewer"});
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "the run takes 150 MiB, more than the cap of 129 MiB: reading and compiling take "
                 "that much, before the first step");
    EXPECT_EQ(error.help(), "`--memory 150MiB` is enough");
  }
}

}  // namespace
}  // namespace cgrun
