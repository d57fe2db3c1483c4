// Tests which candidates become the members of an ensemble.
#include "src/search/ensemble.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cgrun {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Candidates of which each has one number a sample.
class EnsembleTest : public testing::Test {
 protected:
  std::vector<CandidateNumbers> Candidates() const {
    return std::vector<CandidateNumbers>(numbers_.begin(), numbers_.end());
  }
  // The mean squared error, which is NaN where a number is.
  EnsembleLoss Error() const {
    return [this](std::span<const double> mean) {
      double sum = 0;
      for (size_t i = 0; i < target_.size(); ++i) {
        sum += (mean[i] - target_[i]) * (mean[i] - target_[i]);
      }
      return sum;
    };
  }

  std::vector<double> target_ = {0, 0};
  std::vector<std::vector<float>> numbers_;
};

TEST_F(EnsembleTest, TopTakesTheBestOnceEach) {
  numbers_ = {{3, 0}, {1, 0}, {0, 2}, {0, 0.5}};
  EXPECT_EQ(ChooseTop(Candidates(), 2, Error()), (EnsembleChoice{0, 1, 0, 1}));
  EXPECT_EQ(ChooseTop(Candidates(), 9, Error()), (EnsembleChoice{1, 1, 1, 1}));
}

TEST_F(EnsembleTest, TopTakesTheFirstOfEqualOnes) {
  numbers_ = {{2, 0}, {1, 0}, {0, 1}, {-1, 0}};
  EXPECT_EQ(ChooseTop(Candidates(), 2, Error()), (EnsembleChoice{0, 1, 1, 0}));
}

TEST_F(EnsembleTest, TopLeavesOutWhatIsNoNumber) {
  numbers_ = {{kNaN, 0}, {5, 0}, {0, kNaN}};
  EXPECT_EQ(ChooseTop(Candidates(), 3, Error()), (EnsembleChoice{0, 1, 0}));
  numbers_ = {{kNaN, 0}};
  EXPECT_EQ(ChooseTop(Candidates(), 3, Error()), (EnsembleChoice{0}));
}

// The second best errs as the best one does, and the worst one errs the other way.
TEST_F(EnsembleTest, GreedyTakesTheWorseThatComplements) {
  numbers_ = {{1, 1}, {1.1F, 1.1F}, {-2, -2}};
  EXPECT_EQ(ChooseTop(Candidates(), 2, Error()), (EnsembleChoice{1, 1, 0}));
  EXPECT_EQ(ChooseGreedily(Candidates(), 2, Error()), (EnsembleChoice{1, 0, 1}));
  EXPECT_EQ(ChooseGreedily(Candidates(), 3, Error()), (EnsembleChoice{2, 0, 1}));
}

TEST_F(EnsembleTest, GreedyReturnsTheBestMeanOnTheWay) {
  numbers_ = {{1, 1}, {-2, -2}};
  EXPECT_EQ(ChooseGreedily(Candidates(), 3, Error()), (EnsembleChoice{2, 1}));
  EXPECT_EQ(ChooseGreedily(Candidates(), 5, Error()), (EnsembleChoice{2, 1}));
  EXPECT_EQ(ChooseGreedily(Candidates(), 1, Error()), (EnsembleChoice{1, 0}));
}

TEST_F(EnsembleTest, GreedyTakesTheFirstOfEqualOnes) {
  numbers_ = {{0.5F, 0}, {0.5F, 0}, {0, 0.5F}};
  EXPECT_EQ(ChooseGreedily(Candidates(), 1, Error()), (EnsembleChoice{1, 0, 0}));
}

TEST_F(EnsembleTest, OneCandidateIsAnEnsemble) {
  numbers_ = {{4, 4}};
  EXPECT_EQ(ChooseGreedily(Candidates(), 7, Error()), (EnsembleChoice{1}));
  EXPECT_EQ(ChooseGreedily({}, 7, Error()), EnsembleChoice{});
}

TEST_F(EnsembleTest, GreedyLeavesOutWhatIsNoNumber) {
  numbers_ = {{kNaN, kNaN}, {3, 0}, {-3, kNaN}};
  EXPECT_EQ(ChooseGreedily(Candidates(), 4, Error()), (EnsembleChoice{0, 1, 0}));
  EXPECT_EQ(MeanOf(Candidates(), {0, 1, 0}), (std::vector<double>{3, 0}));
  numbers_ = {{kNaN, kNaN}};
  EXPECT_EQ(ChooseGreedily(Candidates(), 4, Error()), (EnsembleChoice{0}));
}

TEST_F(EnsembleTest, TheMeanIsByCounts) {
  numbers_ = {{1, 0}, {4, 3}};
  EXPECT_EQ(MeanOf(Candidates(), {2, 1}), (std::vector<double>{2, 1}));
}

// Greedy selection is never worse than the best candidate on what it is chosen by.
TEST_F(EnsembleTest, GreedyIsNoWorseThanTheBestCandidate) {
  for (int seed = 1; seed < 50; ++seed) {
    numbers_.assign(6, std::vector<float>(2));
    uint32_t state = static_cast<uint32_t>(seed);
    for (auto& numbers : numbers_) {
      for (float& number : numbers) {
        state = state * 1664525 + 1013904223;
        number = static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1;
      }
    }
    const auto candidates = Candidates();
    const EnsembleLoss error = Error();
    const double alone = error(MeanOf(candidates, ChooseTop(candidates, 1, error)));
    const double together = error(MeanOf(candidates, ChooseGreedily(candidates, 12, error)));
    EXPECT_LE(together, alone + 1e-12);
  }
}

}  // namespace
}  // namespace cgrun
