// Tests what is shown of a search.
#include "src/report/search_report.h"

#include <gtest/gtest.h>

#include "src/report/search_page.h"

namespace cgrun {
namespace {

TrialResult TrialOf(int64_t number, const std::string& lr, const std::string& op, double value) {
  TrialResult trial;
  trial.number = number;
  trial.settings = {lr, op};
  trial.state = TrialState::kDone;
  trial.value = value;
  trial.curve = {value / 2, value};
  trial.epochs = 2;
  return trial;
}

// The rate decides, the operator does not.
SearchResult ResultOf() {
  SearchResult result;
  result.name = "<digits>";
  result.folder = "s";
  result.metric = "accuracy";
  result.higher_is_better = true;
  result.parameters = {"train.optimizer.lr", "train.optimizer.op"};
  for (int i = 0; i < 8; ++i) {
    result.trials.push_back(
        TrialOf(i + 1, i < 4 ? "0.1" : "0.001", i % 2 == 0 ? "sgd" : "adam", 0.9 - 0.1 * i));
  }
  result.rungs = {{1, 27}, {3, 9}, {9, 3}};
  return result;
}

TEST(SearchReportTest, TheBestIsNamedWithTheNextCommand) {
  const std::string text = BestTrialText(ResultOf());
  EXPECT_NE(text.find("Trial 1 is the best: accuracy 0.9 after 2 epochs"), text.npos) << text;
  EXPECT_NE(text.find("cgrun eval s/best/model.yaml --weights s/best"), text.npos) << text;
}

TEST(SearchReportTest, WithoutAValueThereIsNoBest) {
  SearchResult result = ResultOf();
  result.trials.resize(1);
  result.trials[0].value.reset();
  EXPECT_EQ(BestTrialText(result), "");
}

TEST(SearchReportTest, ColumnsHaveShortNames) {
  SearchResult result = ResultOf();
  result.parameters = {"paths.a.ops.fc1.units", "paths.a.ops.fc2.units"};
  const std::string text = RankedTrials(result, 2);
  EXPECT_NE(text.find("fc1.units"), text.npos) << text;
  EXPECT_NE(text.find("fc2.units"), text.npos) << text;
  EXPECT_EQ(text.find("paths.a"), text.npos) << text;
  EXPECT_NE(text.find("and 6 more, in s/results.csv"), text.npos) << text;
}

TEST(SearchReportTest, RungsAddUpToTheirEpochs) {
  EXPECT_EQ(RungsText(ResultOf()),
            "27 trials to epoch 1, 9 to epoch 3, 3 to epoch 9: 63 epochs at most");
}

TEST(SearchReportTest, TheParameterThatDecidesWeighsMost) {
  const auto weights = WeighParameters(ResultOf());
  ASSERT_EQ(weights.size(), 2U);
  EXPECT_EQ(weights[0].parameter, "train.optimizer.lr");
  EXPECT_EQ(weights[0].best, "0.1");
  EXPECT_GT(weights[0].share, 0.7);
  EXPECT_LT(weights[1].share, 0.1);
}

TEST(SearchReportTest, NumbersAreWeighedInGroups) {
  SearchResult result = ResultOf();
  for (int i = 0; i < 8; ++i) result.trials[static_cast<size_t>(i)].settings[0] = std::to_string(i);
  const auto weights = WeighParameters(result);
  EXPECT_EQ(weights[0].best, "0 to 1");
  EXPECT_GT(weights[0].share, 0.9);
}

EnsembleResult EnsembleOf() {
  EnsembleResult ensemble;
  ensemble.greedy = true;
  ensemble.members = {{3, 2}, {1, 1}};
  ensemble.refused = {{2, "its 'data' differs from that of trial <1>"}};
  ensemble.value = 0.993;
  ensemble.best_trial = 1;
  ensemble.alone = 0.987;
  ensemble.choosing_samples = 75;
  ensemble.samples = 74;
  ensemble.folder = "s/ensemble";
  return ensemble;
}

TEST(SearchReportTest, TheEnsembleStandsBesideTheBestTrial) {
  SearchResult result = ResultOf();
  EXPECT_EQ(EnsembleText(result), "");
  EXPECT_EQ(SearchJson(result).find("ensemble"), std::string::npos);
  result.ensemble = EnsembleOf();
  const std::string text = EnsembleText(result);
  EXPECT_NE(text.find("Ensemble of 2 (greedy): accuracy 0.993 on the other half of valid; the best "
                      "trial alone 0.987.\n"),
            text.npos)
      << text;
  EXPECT_NE(text.find("cgrun eval s/ensemble/model.yaml --weights s/ensemble"), text.npos) << text;
  EXPECT_NE(text.find("Trial 2 cannot be a member: its 'data' differs"), text.npos) << text;
  const std::string page = SearchPageHtml(result, "");
  EXPECT_NE(page.find("trial 3: 2/3, trial 1: 1/3"), page.npos);
  EXPECT_NE(page.find("trial &lt;1&gt;"), page.npos);
}

TEST(SearchReportTest, AnEnsembleThatIsNotThereHasAReason) {
  SearchResult result = ResultOf();
  result.ensemble = EnsembleResult();
  result.ensemble->problem = "no trial has weights";
  EXPECT_EQ(EnsembleText(result), "There is no ensemble: no trial has weights.\n");
  EXPECT_NE(SearchPageHtml(result, "").find("no trial has weights"), std::string::npos);
  EXPECT_NE(SearchJson(result).find("\"problem\": \"no trial has weights\""), std::string::npos);
}

TEST(SearchReportTest, ThePageHasAllTrials) {
  SearchResult result = ResultOf();
  const std::string page = SearchPageHtml(result, "cgrun: 1 # <file>");
  EXPECT_NE(page.find("&lt;digits&gt;"), page.npos);
  EXPECT_NE(page.find("&lt;file&gt;"), page.npos);
  size_t lines = 0;
  for (size_t at = 0; (at = page.find("<polyline", at)) != page.npos; ++at) ++lines;
  EXPECT_EQ(lines, 2 * result.trials.size());  // curves, and parallel coordinates
}

}  // namespace
}  // namespace cgrun
