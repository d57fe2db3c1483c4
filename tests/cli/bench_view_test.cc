// The notes about a busy machine, and about measures that disagree.
#include "src/cli/bench_view.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace cgrun
