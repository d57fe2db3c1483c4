// The largest batch, where bytes grow with it and where they do not.
#include "src/fit/batch_search.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace cgrun {
namespace {

// Checks that each batch is asked once at most.
class Asked {
 public:
  explicit Asked(std::function<bool(int64_t)> fits) : fits_(std::move(fits)) {}
  std::optional<bool> operator()(int64_t batch) {
    EXPECT_TRUE(batches_.insert(batch).second) << batch << " is asked twice";
    return fits_(batch);
  }
  const std::set<int64_t>& batches() const { return batches_; }

 private:
  std::function<bool(int64_t)> fits_;
  std::set<int64_t> batches_;
};

RC_GTEST_PROP(BatchSearchTest, FindsTheLimitOfWhatGrows, ()) {
  const auto samples = *rc::gen::inRange<int64_t>(1, 2000);
  const auto most = *rc::gen::inRange<int64_t>(0, 3000);
  Asked asked([&](int64_t batch) { return batch <= most; });
  const auto found = FindLargestBatch(samples, std::ref(asked));
  RC_ASSERT(found->batch == std::min(most, samples));
  for (const int64_t batch : asked.batches()) RC_ASSERT(batch >= 1 && batch <= samples);
}

RC_GTEST_PROP(BatchSearchTest, WhatItFindsFitsAndItsSuccessorDoesNot, ()) {
  const auto samples = *rc::gen::inRange<int64_t>(1, 200);
  const auto fits = *rc::gen::container<std::vector<bool>>(static_cast<size_t>(samples + 1),
                                                           rc::gen::arbitrary<bool>());
  const auto it_fits = [&](int64_t batch) {
    return static_cast<bool>(fits[static_cast<size_t>(batch)]);
  };
  Asked asked(it_fits);
  const auto found = FindLargestBatch(samples, std::ref(asked));
  RC_ASSERT(found->batch == 0 || it_fits(found->batch));
  RC_ASSERT(found->batch == samples || !it_fits(found->batch + 1));
  for (const int64_t batch : asked.batches()) RC_ASSERT(!it_fits(batch) || batch <= found->batch);
}

// Whole blocks of 8 take 20 bytes less: 81 is the first that does not fit, 96 the last that does.
TEST(BatchSearchTest, FindsWholeBlocksBeyondTheFirstThatDoesNotFit) {
  const auto bytes = [](int64_t batch) { return batch % 8 == 0 ? batch : batch + 20; };
  const auto found =
      FindLargestBatch(100, [&](int64_t batch) { return std::optional(bytes(batch) <= 99); });
  EXPECT_EQ(found->batch, 96);
}

TEST(BatchSearchTest, TellsWhatElseItHasTried) {
  const auto found =
      FindLargestBatch(1000, [](int64_t batch) { return std::optional(batch <= 147); });
  EXPECT_EQ(found->batch, 147);
  EXPECT_EQ(found->larger, (std::vector<int64_t>{152, 160}));
}

TEST(BatchSearchTest, SaysNothingWhereABatchCannotBePlanned) {
  EXPECT_FALSE(FindLargestBatch(
      100, [](int64_t batch) { return batch < 8 ? std::optional(true) : std::nullopt; }));
}

}  // namespace
}  // namespace cgrun
