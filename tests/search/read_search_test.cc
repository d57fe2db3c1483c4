// Tests of search files: what they may say, and the errors of those that contradict themselves.
#include <gtest/gtest.h>

#include "src/search/search_spec.h"

namespace cgrun {
namespace {

constexpr char kHead[] =
    "cgrun: 1\n"
    "model: small.yaml\n"
    "metric: {name: accuracy, goal: max}\n";

std::optional<SearchSpec> Read(const std::string& text, Diagnostics& diagnostics) {
  return ParseSearch({"s.yaml", kHead + text}, diagnostics);
}

std::string ErrorOf(const std::string& text) {
  Diagnostics diagnostics;
  EXPECT_FALSE(Read(text, diagnostics)) << text;
  return diagnostics.ToString();
}

TEST(ReadSearchTest, ReadsAllKeys) {
  Diagnostics diagnostics;
  const auto search = Read(
      "method: random\nseed: 7\nthreads: 2\nkeep: 5\n"
      "stop: {eta: 4, min: 2, max: 32}\n"
      "budget: {trials: 9, time: 1h}\n"
      "parameters:\n"
      "  train.optimizer.op: {values: [sgd, adam]}\n"
      "  train.optimizer.lr: {min: 1e-4, max: 0.1, log: true}\n"
      "  train.optimizer.momentum: {min: 0, max: 0.9, step: 0.3, when: {train.optimizer.op: sgd}}\n"
      "  paths.classify.ops.fc1.units: {min: 10, max: 20, int: true}\n"
      "  train.batch: [8, 16]\n",
      diagnostics);
  ASSERT_TRUE(search) << diagnostics.ToString();
  EXPECT_EQ(search->method_id(), Method::kRandom);
  EXPECT_EQ(search->seed.value, 7);
  EXPECT_EQ(search->stop->eta, 4);
  EXPECT_EQ(search->stop->max.value, 32);
  EXPECT_EQ(search->budget.seconds->value, 3600);
  ASSERT_EQ(search->parameters.size(), 5U);
  EXPECT_TRUE(search->parameters[1].range.log);
  EXPECT_EQ(search->parameters[2].when[0].values[0].scalar, "sgd");
  EXPECT_EQ(search->parameters[3].range.step, 1);
  EXPECT_EQ(search->parameters[4].values.size(), 2U);
}

TEST(ReadSearchTest, SeveralModelsAreAParameter) {
  Diagnostics diagnostics;
  const auto search = ParseSearch(
      {"s.yaml", "cgrun: 1\nmodel: [a.yaml, b.yaml]\nmetric: loss\nmethod: grid\n"}, diagnostics);
  ASSERT_TRUE(search) << diagnostics.ToString();
  ASSERT_EQ(search->parameters.size(), 1U);
  EXPECT_EQ(search->parameters[0].path.value, kModelParameter);
}

TEST(ReadSearchTest, AnEnsembleIsGreedyOrOfTheBest) {
  const auto read = [](const std::string& value) {
    Diagnostics diagnostics;
    const auto search = Read("budget: {trials: 9}\nensemble: " + value + "\n", diagnostics);
    EXPECT_TRUE(search) << diagnostics.ToString();
    return search ? search->ensemble : std::nullopt;
  };
  EXPECT_TRUE(read("greedy")->greedy);
  EXPECT_EQ(read("greedy")->picks.value, 20);
  EXPECT_EQ(read("{greedy: }")->picks.value, 20);
  EXPECT_EQ(read("{greedy: 7}")->picks.value, 7);
  EXPECT_FALSE(read("{top: 5}")->greedy);
  EXPECT_EQ(read("{top: 5}")->picks.value, 5);
  EXPECT_FALSE(read(""));
}

TEST(ReadSearchTest, CategoriesAreValues) {
  Diagnostics diagnostics;
  const auto search =
      Read("method: grid\nparameters: {train.batch: {categories: [8, 16]}}\n", diagnostics);
  ASSERT_TRUE(search) << diagnostics.ToString();
  EXPECT_EQ(search->parameters[0].values.size(), 2U);
}

struct Mistake {
  std::string text;
  std::string place;  // line and column of the error
  std::string message;
};

class MistakesTest : public testing::TestWithParam<Mistake> {};

TEST_P(MistakesTest, AreToldAtTheirPlace) {
  const std::string error = ErrorOf(GetParam().text);
  EXPECT_NE(error.find("s.yaml:" + GetParam().place + ": error: "), error.npos) << error;
  EXPECT_NE(error.find(GetParam().message), error.npos) << error;
}

INSTANTIATE_TEST_SUITE_P(
    All, MistakesTest,
    testing::Values(
        Mistake{"method: gird\n", "4:9", "did you mean 'grid'?"},
        Mistake{"metod: grid\n", "4:1", "unknown key 'metod'"},
        Mistake{"budget: {trials: 0}\n", "4:18", "at least 1"},
        Mistake{"budget: {trials: 2}\nparameters: {a: {min: 2, max: 1}}\n", "5:23", "larger than"},
        Mistake{"budget: {trials: 2}\nparameters: {a: {min: 0, max: 1, log: true}}\n", "5:23",
                "begins above 0"},
        Mistake{"budget: {trials: 2}\nparameters: {a: {min: 1}}\n", "5:14", "needs `values`"},
        Mistake{"budget: {trials: 2}\nparameters: {a: {values: [1], max: 2}}\n", "5:36",
                "beside a list"},
        Mistake{"budget: {trials: 2}\nparameters: {a: {values: [1, 1]}}\n", "5:30", "twice"},
        Mistake{"budget: {trials: 2}\nparameters: {a: {min: 1.5, max: 2, int: true}}\n", "5:23",
                "whole"},
        Mistake{"method: grid\nparameters: {a: {min: 1, max: 2}}\n", "5:14", "a grid cannot"},
        Mistake{"budget: {trials: 2}\nparameters: {a: {values: [1], when: {b: 1}}}\n", "5:38",
                "no parameter above it"},
        Mistake{
            "budget: {trials: 2}\nparameters: {a: {values: [1]}, b: {values: [1], when: {a: 2}}}\n",
            "5:59", "never has this value"},
        Mistake{"stop: {min: 9, max: 3}\nbudget: {trials: 2}\n", "4:13", "larger than"},
        Mistake{"stop: {max: 3}\nbudget: {time: 1m}\n", "5:16", "a number of trials"},
        Mistake{"stop: {max: 3}\nbudget: {trials: 2}\nparameters: {train.epochs: [1, 2]}\n", "6:14",
                "'stop' says how long"}));

TEST(ReadSearchTest, SomethingEndsTheSearch) {
  EXPECT_NE(ErrorOf("method: tpe\n").find("nothing ends the search"), std::string::npos);
}

}  // namespace
}  // namespace cgrun
