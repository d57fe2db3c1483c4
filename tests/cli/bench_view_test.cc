// The notes about a busy machine, and about measures that disagree.
#include "src/cli/bench_view.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "src/cli/pass_gains.h"

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

TEST(BenchViewTest, CasesThatTakeTurnsAreJudgedByTheBaseline) {
  EXPECT_TRUE(HasNote(Result(false, 2, 1), "eager"));
  EXPECT_FALSE(HasNote(Result(false, 1, 2), "graph, memory"));
}

TEST(BenchViewTest, IsolatedCasesAreAllLookedAt) {
  EXPECT_TRUE(HasNote(Result(true, 2, 1), "eager"));
  EXPECT_TRUE(HasNote(Result(true, 1, 2), "graph, memory"));
  EXPECT_EQ(BenchText(Result(true, 1, 1)).find("note: "), std::string::npos);
}

// Less time by the medians, and slower by the median of the rounds' ratios.
TEST(BenchViewTest, SaysWhereTheMeasuresDisagree) {
  BenchResult result = Result(false, 1, 1);
  result.cases[1].seconds_per_iteration->median = 0.99;
  result.cases[1].build_seconds = 1;
  result.cases[1].speedup = Speedup{0.979, {}};
  const std::string text = BenchText(result);
  EXPECT_NE(text.find("0.979 ×    in noise\n"), std::string::npos) << text;
  EXPECT_NE(text.find("in noise: by ms/it"), std::string::npos) << text;
  EXPECT_NE(BenchJson(result, {}).find("\"break_even_step\": null"), std::string::npos);
  result.cases[1].speedup->interval = {0.95, 0.99};
  EXPECT_NE(BenchText(result).find("never"), std::string::npos) << "an interval tells";
  result.cases[1].speedup = Speedup{1.01, {}};
  EXPECT_EQ(BenchText(result).find("in noise"), std::string::npos);
}

// Against the graph with all passes, not against the baseline.
TEST(BenchViewTest, SaysWhatEachPassGains) {
  BenchResult result = Result(false, 1, 1);
  result.cases[1].name = kAllPassesCase;
  result.cases[1].peak_bytes = int64_t{3} << 20;
  result.cases[1].round_seconds = {1, 1, 1, 1, 1, 1, 1};
  result.cases.push_back(Case("without fuse_norms", 1, 1));
  result.cases[2].peak_bytes = int64_t{5} << 20;
  result.cases[2].round_seconds = {1.5, 1.4, 1.6, 1.5, 1.5, 1.2, 1.7};
  result.cases.push_back(Case("without lanes", 1, 1));
  result.cases[3].fault = "out of memory";
  const std::vector<PassGain> gains = PassGainsOf(result);
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

TEST(BenchViewTest, PassesOfProcessesApartGainMemoryAlone) {
  BenchResult result = Result(true, 1, 1);
  result.cases[0].name = kAllPassesCase;
  result.cases[1].name = "without lanes";
  ASSERT_EQ(PassGainsOf(result).size(), 1);
  EXPECT_FALSE(PassGainsOf(result)[0].speedup);
}

}  // namespace
}  // namespace cgrun
