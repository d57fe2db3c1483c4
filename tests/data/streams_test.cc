// Streams: rows of batches continue each other, and nothing stands twice.
#include "src/data/streams.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "src/data/sampler.h"

namespace cgrun {
namespace {

// `size` samples whose single int64 element is their number.
class Numbers : public Dataset {
 public:
  explicit Numbers(int64_t size) : size_(size) {}
  int64_t size() const override { return size_; }
  const std::vector<DataField>& fields() const override { return fields_; }
  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override {
    std::memcpy(out[0].data(), &index, sizeof(index));
  }
  int64_t decoded_bytes() const override { return 8 * size_; }

 private:
  int64_t size_;
  std::vector<DataField> fields_ = {{"number", DType::kI64, {}}};
};

int64_t NumberOf(const Dataset& dataset, int64_t index) {
  int64_t number = -1;
  const std::array<std::span<std::byte>, 1> out = {std::as_writable_bytes(std::span(&number, 1))};
  dataset.Read(index, out);
  return number;
}

TEST(StreamsTest, RowsGoOnFromBatchToBatch) {
  const Streams streams(std::make_shared<Numbers>(11), 3);
  EXPECT_EQ(streams.size(), 9);
  EXPECT_EQ(streams.left_out(), 2);
  EXPECT_EQ(streams.decoded_bytes(), 0);
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < streams.size(); ++i) numbers.push_back(NumberOf(streams, i));
  EXPECT_EQ(numbers, (std::vector<int64_t>{0, 3, 6, 1, 4, 7, 2, 5, 8}));
}

TEST(StreamsTest, EverySampleOfAWholeBatchStandsOnce) {
  EXPECT_TRUE(rc::check([] {
    const int64_t count = *rc::gen::inRange(1, 20),
                  size = count * *rc::gen::inRange(1, 20) + *rc::gen::inRange<int64_t>(0, count);
    const Streams streams(std::make_shared<Numbers>(size), count);
    RC_ASSERT(streams.size() % count == 0);
    RC_ASSERT(streams.left_out() < count);
    std::set<int64_t> seen;
    for (int64_t i = 0; i < streams.size(); ++i) {
      const int64_t number = NumberOf(streams, i);
      RC_ASSERT(number >= 0 && number < size);
      RC_ASSERT(seen.insert(number).second);
      if (i >= count) RC_ASSERT(number == NumberOf(streams, i - count) + 1);
    }
  }));
}

TEST(StreamsTest, ASplitInOrderKeepsTheLastSamples) {
  const DatasetSplit split =
      SplitDataset(std::make_shared<Numbers>(10), 0.2, 7, 0.1, SplitOrder::kInOrder);
  EXPECT_TRUE(
      std::ranges::equal(split.train->indices(), std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(std::ranges::equal(split.valid->indices(), std::vector<int64_t>{7, 8}));
  EXPECT_TRUE(std::ranges::equal(split.test->indices(), std::vector<int64_t>{9}));
  const DatasetSplit other =
      SplitDataset(std::make_shared<Numbers>(10), 0.2, 8, 0.1, SplitOrder::kInOrder);
  EXPECT_TRUE(std::ranges::equal(split.valid->indices(), other.valid->indices()));
}

}  // namespace
}  // namespace cgrun
