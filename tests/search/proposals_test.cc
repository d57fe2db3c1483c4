// Tests spaces and the proposals out of them.
#include "src/search/proposals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace cgrun {
namespace {

SearchParameter Choice(const std::string& path, const std::vector<std::string>& values) {
  SearchParameter parameter;
  parameter.path.value = path;
  for (const std::string& value : values) parameter.values.push_back(TreeNode::Scalar(value));
  return parameter;
}

SearchParameter Numbers(const std::string& path, const Range& range) {
  SearchParameter parameter;
  parameter.path.value = path;
  parameter.range = range;
  return parameter;
}

SearchParameter When(SearchParameter parameter, const std::string& other,
                     const std::string& value) {
  parameter.when.push_back({{other, {}}, {TreeNode::Scalar(value)}});
  return parameter;
}

TEST(SpaceTest, AGridGoesThroughAllThatCounts) {
  const std::vector<SearchParameter> parameters = {
      Choice("op", {"sgd", "adam"}), When(Choice("momentum", {"0", "0.9"}), "op", "sgd"),
      Numbers("units", {.min = 1, .max = 3, .integer = true, .step = 1})};
  const Space space(parameters);
  const auto all = space.Enumerate();
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 2U * 3U + 3U);
  std::set<std::string> keys;
  for (const Configuration& settings : *all) {
    keys.insert(space.KeyOf(settings));
    EXPECT_EQ(settings[1].has_value(), settings[0]->choice == 0);
  }
  EXPECT_EQ(keys.size(), all->size());
}

TEST(SpaceTest, StepsHaveTheDigitsThatTheyAreWrittenWith) {
  const std::vector<SearchParameter> parameters = {
      Numbers("rate", {.min = 0.1, .max = 0.7, .step = 0.2})};
  const Space space(parameters);
  EXPECT_EQ(space.Levels(0), 4);
  EXPECT_EQ(space.TextOf(0, space.At(0, 0.3)), "0.3");
  EXPECT_EQ(space.TextOf(0, space.At(0, 0.999)), "0.7");
}

TEST(SpaceTest, NumbersStayInTheirRange) {
  const std::vector<SearchParameter> parameters = {
      Numbers("lr", {.min = 1.23456e-4, .max = 9.87654e-2, .log = true}),
      Numbers("units", {.min = 3, .max = 700, .log = true, .integer = true})};
  const Space space(parameters);
  EXPECT_FALSE(space.Enumerate());
  for (int i = 0; i < 1000; ++i) {
    const double lr = space.At(0, i / 1000.0).number;
    EXPECT_GE(lr, 1.23456e-4);
    EXPECT_LE(lr, 9.87654e-2);
    const double units = space.At(1, i / 1000.0).number;
    EXPECT_EQ(units, std::round(units));
    EXPECT_TRUE(units >= 3 && units <= 700);
  }
  EXPECT_NEAR(space.At(0, 0.5).number, std::sqrt(1.23456e-4 * 9.87654e-2), 1e-6);
}

TEST(ProposalsTest, NoConfigurationOfAFiniteSpaceComesTwice) {
  const std::vector<SearchParameter> parameters = {
      Choice("a", {"1", "2", "3"}), Numbers("b", {.min = 0, .max = 1, .step = 0.25})};
  const Space space(parameters);
  for (const Method method : {Method::kGrid, Method::kRandom, Method::kTpe}) {
    Proposals proposals(space, method, 3);
    std::set<std::string> keys;
    std::vector<PastTrial> known;
    while (const auto settings = proposals.Next(known)) {
      keys.insert(space.KeyOf(*settings));
      known.push_back({*settings, static_cast<double>(keys.size())});
    }
    EXPECT_EQ(keys.size(), 15U);
    EXPECT_EQ(known.size(), 15U);
  }
}

TEST(ProposalsTest, ASeedIsASequence) {
  const std::vector<SearchParameter> parameters = {
      Numbers("lr", {.min = 1e-4, .max = 0.1, .log = true})};
  const Space space(parameters);
  const auto draw = [&](uint64_t seed) {
    Proposals proposals(space, Method::kRandom, seed);
    std::vector<double> numbers;
    for (int i = 0; i < 20; ++i) numbers.push_back((*proposals.Next({}))[0]->number);
    return numbers;
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
}

// The loss has a valley at 0.02 of a logarithmic range, and one of two choices is better.
double LossOf(const Configuration& settings) {
  const double away = std::log10(settings[0]->number / 0.02);
  return away * away + (settings[1]->choice == 1 ? 0 : 0.5);
}

double BestLoss(Method method, uint64_t seed, int trials) {
  const std::vector<SearchParameter> parameters = {
      Numbers("lr", {.min = 1e-6, .max = 10, .log = true}), Choice("op", {"sgd", "adam"})};
  const Space space(parameters);
  Proposals proposals(space, method, seed);
  std::vector<PastTrial> past;
  double best = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < trials; ++i) {
    const auto count = static_cast<size_t>(std::max<int64_t>(0, i - kLag + 1));
    const auto settings = proposals.Next(std::span(past).first(count));
    past.push_back({*settings, LossOf(*settings)});
    best = std::min(best, *past.back().loss);
  }
  return best;
}

TEST(ProposalsTest, ResultsLeadToTheValley) {
  int better = 0;
  double sum_tpe = 0, sum_random = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const double tpe = BestLoss(Method::kTpe, seed, 60);
    const double random = BestLoss(Method::kRandom, seed, 60);
    better += tpe < random;
    sum_tpe += tpe;
    sum_random += random;
  }
  EXPECT_GE(better, 14);
  EXPECT_LT(sum_tpe, sum_random / 2);
}

TEST(ProposalsTest, TrialsWithoutAResultAreNoReason) {
  const std::vector<SearchParameter> parameters = {Numbers("lr", {.min = 0, .max = 1})};
  const Space space(parameters);
  const std::vector<PastTrial> refused(30, PastTrial{{Setting{0, 0.5}}, std::nullopt});
  Proposals with(space, Method::kTpe, 1), without(space, Method::kTpe, 1);
  EXPECT_EQ(with.Next(refused), without.Next({}));
}

TEST(ProposalsTest, FailedTrialsAreTheWorst) {
  const std::vector<SearchParameter> parameters = {Choice("op", {"a", "b"}),
                                                   Numbers("x", {.min = 0, .max = 1})};
  const Space space(parameters);
  std::vector<PastTrial> known;
  for (int i = 0; i < 40; ++i) {
    const bool fails = i % 2 == 0;
    known.push_back({{Setting{fails ? 0U : 1U, 0}, Setting{0, i / 40.0}},
                     fails ? std::numeric_limits<double>::infinity() : 1.0});
  }
  Proposals proposals(space, Method::kTpe, 1);
  int good = 0;
  for (int i = 0; i < 20; ++i) good += (*proposals.Next(known))[0]->choice == 1;
  EXPECT_GE(good, 14);
}

}  // namespace
}  // namespace cgrun
