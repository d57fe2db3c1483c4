#include "src/results/group_result.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "src/report/group_report.h"

namespace cgrun {
namespace {

GroupResult Measured(const std::string& name, int64_t samples, double loss) {
  GroupResult group;
  group.name = name;
  group.rows = samples;
  PassResult pass;
  pass.split = "valid";
  pass.samples = samples;
  pass.means = {{"loss", loss, false}};
  group.passes = {pass};
  return group;
}

GroupsResult Results() {
  GroupsResult result;
  result.column = "user";
  result.split = "valid";
  result.metric = "loss";
  result.groups = {Measured("good", 1, 0.5), Measured("bad", 3, 2.5)};
  result.groups.push_back({});
  result.groups.back().name = "none";
  result.groups.back().reason = "too few, \"rows\"";
  return result;
}

std::vector<std::string> NamesOf(const GroupsResult& result) {
  std::vector<std::string> names;
  for (const GroupResult& group : result.groups) names.push_back(group.name);
  return names;
}

TEST(GroupResultTest, TheWorstComesFirstAndWhatHasNoValueLast) {
  GroupsResult result = Results();
  result.groups.push_back(Measured("broken", 1, std::numeric_limits<double>::quiet_NaN()));
  RankGroups(result);
  EXPECT_EQ(NamesOf(result), (std::vector<std::string>{"broken", "bad", "good", "none"}));
  result.higher_is_better = true;
  RankGroups(result);
  EXPECT_EQ(NamesOf(result), (std::vector<std::string>{"broken", "good", "bad", "none"}));
}

TEST(GroupResultTest, MeansAreWeightedBySamples) {
  const std::vector<PassResult> means = MeansOfGroups(Results());
  ASSERT_EQ(means.size(), 1U);
  EXPECT_EQ(means[0].split, "valid");
  EXPECT_EQ(means[0].samples, 4);
  EXPECT_EQ(means[0].means[0].value, (0.5 + 3 * 2.5) / 4);
}

TEST(GroupResultTest, TheTextHasFewLinesAndSaysWhatIsLeftOut) {
  GroupsResult result = Results();
  for (int i = 0; i < 1000; ++i) result.groups.push_back(Measured("g" + std::to_string(i), 1, 0.1));
  for (int i = 0; i < 1000; ++i) result.groups.push_back(result.groups[2]);
  RankGroups(result);
  const std::string text = GroupsText(result, "runs/x/groups.csv");
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24) << text;
  EXPECT_NE(text.find("and 990 groups more, in runs/x/groups.csv"), text.npos) << text;
  EXPECT_NE(text.find("1001 groups have no model:\n"), text.npos) << text;
  EXPECT_NE(text.find("  and 998 more\n"), text.npos) << text;
}

TEST(GroupResultTest, TheCsvHasEachGroup) {
  GroupsResult result = Results();
  RankGroups(result);
  EXPECT_EQ(GroupsCsv(result),
            "user,rows,epochs,steps,valid_samples,valid_loss,weights,reason\n"
            "bad,3,0,0,3,2.5,0000000000000000,\n"
            "good,1,0,0,1,0.5,0000000000000000,\n"
            "none,0,0,0,,,,\"too few, \"\"rows\"\"\"\n");
}

}  // namespace
}  // namespace cgrun
