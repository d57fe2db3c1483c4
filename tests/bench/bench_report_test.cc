// The notes about a busy machine, and about measures that disagree.
#include "src/report/bench_report.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "src/bench/bench.h"
#include "src/bench/pass_gains.h"

namespace cgrun {
namespace {

CaseResult Case(const std::string& name, double least, double most) {
  CaseResult result;
  result.name = name;
  result.batch = 1;
  result.seconds_per_iteration = Spread{least, least, most};
  return result;
}

BenchResult Result(bool isolated, double most_of_first, double most_of_second) {
  BenchResult result;
  result.model = "small";
  result.device = "cpu";
  result.steps_per_round = 1;
  result.rounds = 2;
  result.isolated = isolated;
  result.cases = {Case("eager", 1, most_of_first), Case("graph, memory", 1, most_of_second)};
  return result;
}

bool HasNote(const BenchResult& result, const std::string& name) {
  return BenchText(result).find("note: rounds of '" + name + "' differ by a factor of 2.0") !=
         std::string::npos;
}

TEST(BenchReportTest, CasesThatTakeTurnsAreJudgedByTheBaseline) {
  EXPECT_TRUE(HasNote(Result(false, 2, 1), "eager"));
  EXPECT_FALSE(HasNote(Result(false, 1, 2), "graph, memory"));
}

TEST(BenchReportTest, IsolatedCasesAreAllLookedAt) {
  EXPECT_TRUE(HasNote(Result(true, 2, 1), "eager"));
  EXPECT_TRUE(HasNote(Result(true, 1, 2), "graph, memory"));
  EXPECT_EQ(BenchText(Result(true, 1, 1)).find("note: "), std::string::npos);
}

TEST(BenchReportTest, WhatIsLeftOutIsSaid) {
  BenchResult result = Result(false, 1, 1);
  EXPECT_EQ(BenchJson(result).find("left_out"), std::string::npos);
  result.left_out = {{"graph, bfs", "it is too large"}};
  EXPECT_NE(BenchText(result).find("\nnote: 'graph, bfs' is left out: it is too large\n"),
            std::string::npos);
  EXPECT_NE(BenchJson(result).find("\"reason\": \"it is too large\""), std::string::npos);
}

// Half the time at most, after a start that takes a second more.
BenchResult Faster(std::optional<std::pair<double, double>> interval) {
  BenchResult result = Result(false, 1, 1);
  result.cases[1].seconds_per_iteration = Spread{0.4, 0.3, 0.5};
  result.cases[1].build_seconds = 1;
  result.cases[1].speedup = Speedup{2.5, interval};
  return result;
}

bool HasStep(const BenchResult& result) {
  const bool has_step = BenchText(result).find("in noise") == std::string::npos;
  EXPECT_EQ(BenchJson(result, {}).find("\"break_even_step\": 3") != std::string::npos, has_step);
  return has_step;
}

TEST(BenchReportTest, NoStepBreaksEvenWhereTheIntervalHoldsOne) {
  EXPECT_TRUE(HasStep(Faster(std::pair(1.01, 3.0))));
  EXPECT_FALSE(HasStep(Faster(std::pair(0.99, 3.0))));
  const std::string text = BenchText(Faster(std::pair(0.99, 3.0)));
  EXPECT_NE(text.find("0.99–3.00    in noise\n"), std::string::npos) << text;
  EXPECT_NE(text.find("in noise: the interval holds 1"), std::string::npos) << text;
}

TEST(BenchReportTest, WithoutAnIntervalNoStepBreaksEvenWhereRoundsTookAsLong) {
  BenchResult result = Faster(std::nullopt);
  EXPECT_TRUE(HasStep(result));
  result.cases[1].seconds_per_iteration->max = 1;
  EXPECT_FALSE(HasStep(result));
  EXPECT_NE(BenchText(result).find("in noise: a round of the one took as long"), std::string::npos);
  result.cases[1].seconds_per_iteration = Spread{1.5, 1.25, 2};
  result.cases[1].speedup = Speedup{0.67, {}};
  EXPECT_NE(BenchText(result).find("never"), std::string::npos) << "slower, and known to be";
}

// A pass is compared with the graph that has all passes, not with the baseline.
TEST(BenchReportTest, SaysWhatEachPassGains) {
  BenchResult result = Result(false, 1, 1);
  result.cases[1].name = kAllPassesCase;
  result.cases[1].peak_bytes = int64_t{3} << 20;
  result.cases[1].round_seconds = {1, 1, 1, 1, 1, 1, 1};
  result.cases.push_back(Case("without fuse_norms", 1, 1));
  result.cases[2].peak_bytes = int64_t{5} << 20;
  result.cases[2].round_seconds = {1.5, 1.4, 1.6, 1.5, 1.5, 1.2, 1.7};
  result.cases.push_back(Case("without lanes", 1, 1));
  result.cases[3].fault = "out of memory";
  result.pass_gains = PassGainsOf(result);
  const std::vector<PassGain>& gains = result.pass_gains;
  ASSERT_EQ(gains.size(), 1) << "a case that failed has no gain";
  EXPECT_EQ(gains[0].pass, "fuse_norms");
  EXPECT_EQ(gains[0].bytes, int64_t{2} << 20);
  EXPECT_EQ(gains[0].speedup->median, 1.5);
  EXPECT_EQ(gains[0].speedup->interval, std::pair(1.2, 1.7));
  const std::string text = BenchText(result), json = BenchJson(result, {});
  EXPECT_NE(text.find("fuse_norms       2.00  1.500 ×  1.20–1.70\n"), std::string::npos) << text;
  EXPECT_NE(json.find("\"passes\""), std::string::npos) << json;
  EXPECT_EQ(BenchJson(Result(false, 1, 1), {}).find("\"passes\""), std::string::npos);
}

TEST(BenchReportTest, PassesOfProcessesApartAreHeldAgainstEachOtherByMedians) {
  BenchResult result = Result(true, 1, 1);
  result.cases[0].name = kAllPassesCase;
  result.cases[1].name = "without lanes";
  ASSERT_EQ(PassGainsOf(result).size(), 1);
  EXPECT_FALSE(PassGainsOf(result)[0].speedup) << "no rounds";
  result.cases[0].round_seconds = {1, 2, 9};
  result.cases[1].round_seconds = {3, 9, 1};
  result.pass_gains = PassGainsOf(result);
  EXPECT_DOUBLE_EQ(result.pass_gains[0].speedup->median, 1.5);
  EXPECT_NE(BenchText(result).find("\nthis, by the medians."), std::string::npos);
}

TEST(BenchReportTest, PassesThatChangeNothingHaveNoNumbers) {
  BenchResult result = Result(false, 1, 1);
  result.cases[1].name = kAllPassesCase;
  result.idle_passes = {"dead_code", "lanes"};
  result.pass_gains = PassGainsOf(result);
  EXPECT_EQ(BenchText(result).find("saves MiB"), std::string::npos) << "a table of nothing";
  result.cases.push_back(Case("without fuse_norms", 1, 1));
  result.pass_gains = PassGainsOf(result);
  const std::string text = BenchText(result), json = BenchJson(result, {});
  EXPECT_NE(text.find("and was not timed: dead_code, lanes\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("\nlanes  "), std::string::npos) << text;
  EXPECT_EQ(text.find("95 %"), std::string::npos) << text;
  const std::vector<PassGain>& gains = result.pass_gains;
  ASSERT_EQ(gains.size(), 3);
  EXPECT_EQ(gains[0].pass, "dead_code");
  EXPECT_EQ(gains[1].pass, "fuse_norms");
  EXPECT_EQ(gains[2].pass, "lanes");
  EXPECT_TRUE(gains[2].changes_nothing);
  EXPECT_FALSE(gains[1].changes_nothing);
  EXPECT_NE(json.find("\"changes_nothing\": true"), std::string::npos) << json;
}

// A case can run in a process of its own, which sends this text to the one that started it.
TEST(BenchReportTest, ACaseIsReadWithItsRounds) {
  BenchResult result = Result(false, 1, 2);
  result.cases.resize(1);
  result.cases[0].round_seconds = {1, 2, 1.5};
  EXPECT_EQ(CaseFromJson(BenchJson(result)).cases[0].round_seconds,
            std::vector<double>({1, 2, 1.5}));
  result.cases[0].seconds_per_iteration.reset();
  EXPECT_TRUE(CaseFromJson(BenchJson(result)).cases[0].round_seconds.empty());
}

}  // namespace
}  // namespace cgrun
