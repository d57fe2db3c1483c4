// The order of an epoch and the split of a data set.
#include "src/data/sampler.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>

#include "src/base/allocation_counter.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

std::vector<int64_t> OrderOf(const Sampler& sampler, int64_t size) {
  std::vector<int64_t> order(static_cast<size_t>(size));
  sampler.Numbers(0, order);
  return order;
}

std::vector<int64_t> Order(int64_t size, uint64_t seed, int64_t epoch, bool shuffle = true) {
  Sampler sampler(size, seed, shuffle);
  sampler.StartEpoch(epoch);
  return OrderOf(sampler, size);
}

// `size` samples whose single int64 element is their number.
class Numbers : public Dataset {
 public:
  explicit Numbers(int64_t size) : size_(size) {}
  int64_t size() const override { return size_; }
  const std::vector<DataField>& fields() const override { return fields_; }
  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override {
    std::memcpy(out[0].data(), &index, sizeof(index));
  }
  int64_t decoded_bytes() const override { return 0; }

 private:
  int64_t size_;
  std::vector<DataField> fields_ = {{"number", DType::kI64, {}}};
};

TEST(SamplerTest, EveryEpochHasEverySampleOnce) {
  EXPECT_TRUE(rc::check([](uint64_t seed, uint32_t epoch) {
    const int64_t size = *rc::gen::inRange(1, 500);
    std::vector<int64_t> order = Order(size, seed, epoch);
    std::sort(order.begin(), order.end());
    for (int64_t i = 0; i < size; ++i) RC_ASSERT(order[static_cast<size_t>(i)] == i);
  }));
}

TEST(SamplerTest, TheOrderIsAFunctionOfSeedAndEpoch) {
  Sampler sampler(100, 7, true);
  sampler.StartEpoch(9);  // earlier draws do not matter
  sampler.StartEpoch(3);
  EXPECT_EQ(OrderOf(sampler, 100), Order(100, 7, 3));
  EXPECT_NE(Order(100, 7, 3), Order(100, 7, 4));
  EXPECT_NE(Order(100, 7, 3), Order(100, 8, 3));
}

TEST(SamplerTest, WithoutShuffleTheOrderIsTheFiles) {
  EXPECT_EQ(Order(4, 7, 3, false), (std::vector<int64_t>{0, 1, 2, 3}));
}

TEST(SamplerTest, APartOfTheOrderIsTheSameNumbers) {
  const std::vector<int64_t> whole = Order(50, 7, 2);
  Sampler sampler(50, 7, true);
  sampler.StartEpoch(2);
  std::vector<int64_t> part(7);
  sampler.Numbers(43, part);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 43));
}

TEST(SamplerTest, WithoutShuffleTheOrderTakesNoMemory) {
  constexpr int64_t kSize = int64_t{1} << 40;
  const HeapUse before = CurrentHeapUse();
  Sampler sampler(kSize, 7, false);
  sampler.StartEpoch(1);
  std::array<int64_t, 3> last = {};
  sampler.Numbers(kSize - 3, last);
  EXPECT_EQ(CurrentHeapUse().allocations, before.allocations);
  EXPECT_EQ(last, (std::array<int64_t, 3>{kSize - 3, kSize - 2, kSize - 1}));
  EXPECT_EQ(Sampler::OrderBytes(kSize, false), 0);
  EXPECT_EQ(Sampler::OrderBytes(1000, true), 8000);
}

TEST(SamplerTest, AnEpochDoesNotAllocate) {
  Sampler sampler(1000, 7, true);
  std::array<int64_t, 10> numbers = {};
  const int64_t before = CurrentHeapUse().allocations;
  sampler.StartEpoch(1);
  sampler.Numbers(990, numbers);
  EXPECT_EQ(CurrentHeapUse().allocations, before);
}

TEST(BatchCountTest, CountsThePartialBatch) {
  EXPECT_EQ(BatchCount(1065, 100), 11);
  EXPECT_EQ(BatchCount(1000, 100), 10);
  EXPECT_EQ(BatchCount(1, 100), 1);
}

TEST(SplitDatasetTest, IsDisjointAndCovers) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    const int64_t size = *rc::gen::inRange(2, 400);
    const double fraction = *rc::gen::inRange(1, 100) / 100.0;
    const DatasetSplit split = SplitDataset(std::make_shared<Numbers>(size), fraction, seed);
    const SplitIndices numbers = SplitSamples(size, fraction, seed);
    RC_ASSERT(std::ranges::equal(split.train->indices(), numbers.train));
    RC_ASSERT(std::ranges::equal(split.valid->indices(), numbers.valid));
    const auto train = split.train->indices(), valid = split.valid->indices();
    RC_ASSERT(std::is_sorted(train.begin(), train.end()));
    RC_ASSERT(std::is_sorted(valid.begin(), valid.end()));
    std::set<int64_t> all(train.begin(), train.end());
    all.insert(valid.begin(), valid.end());
    RC_ASSERT(static_cast<int64_t>(all.size()) == size);
    RC_ASSERT(split.train->size() + split.valid->size() == size);
    RC_ASSERT(split.train->size() >= 1 && split.valid->size() >= 1);
    RC_ASSERT(std::abs(split.valid->size() - fraction * size) <= 1.0);
  }));
}

TEST(SplitDatasetTest, DependsOnTheSeedAlone) {
  const auto base = std::make_shared<Numbers>(1797);
  const DatasetSplit a = SplitDataset(base, 0.1, 7), b = SplitDataset(base, 0.1, 7);
  EXPECT_EQ(a.valid->size(), 180);
  EXPECT_TRUE(std::ranges::equal(a.valid->indices(), b.valid->indices()));
  const DatasetSplit other = SplitDataset(base, 0.1, 8);
  EXPECT_FALSE(std::ranges::equal(a.valid->indices(), other.valid->indices()));
}

TEST(SplitDatasetTest, MakesThreeSetsThatAreDisjointAndCover) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    const int64_t size = *rc::gen::inRange(3, 400);
    const double valid = *rc::gen::inRange(0, 49) / 100.0;
    const double test = *rc::gen::inRange(1, 50) / 100.0;
    const auto base = std::make_shared<Numbers>(size);
    const DatasetSplit split = SplitDataset(base, valid, seed, test);
    RC_ASSERT((split.valid == nullptr) == (valid == 0));
    std::set<int64_t> all;
    int64_t sum = 0;
    for (const Subset* part : {split.train.get(), split.valid.get(), split.test.get()}) {
      if (part == nullptr) continue;
      RC_ASSERT(part->size() >= 1 && std::ranges::is_sorted(part->indices()));
      all.insert(part->indices().begin(), part->indices().end());
      sum += part->size();
    }
    RC_ASSERT(sum == size && static_cast<int64_t>(all.size()) == size);
    RC_ASSERT(std::abs(split.test->size() - test * size) <= 1.0);
    if (valid == 0) return;
    const DatasetSplit two = SplitDataset(base, valid, seed);
    RC_ASSERT(two.test == nullptr);
    if (size >= 20) RC_ASSERT(std::ranges::equal(split.valid->indices(), two.valid->indices()));
  }));
}

int64_t ReadNumber(const Dataset& dataset, int64_t sample) {
  int64_t number = 0;
  std::span<std::byte> bytes = std::as_writable_bytes(std::span(&number, 1));
  dataset.Read(sample, {&bytes, 1});
  return number;
}

TEST(SplitDatasetTest, PartsOfVeryLargeSetsTakeNoMemory) {
  constexpr int64_t kSize = kMostListed + 5, kRead = 100'000;
  for (const SplitOrder how : {SplitOrder::kRandom, SplitOrder::kInOrder}) {
    const DatasetSplit split = SplitDataset(std::make_shared<Numbers>(kSize), 0.02, 3, 0.01, how);
    EXPECT_EQ(split.valid->size(), std::llround(0.02 * kSize));
    EXPECT_EQ(split.test->size(), std::llround(0.01 * kSize));
    EXPECT_EQ(split.train->size() + split.valid->size() + split.test->size(), kSize);
    std::vector<bool> left = HeldOut(DataSplit{0.02, 3, 0.01, how}, kSize);
    for (const Subset* part : {split.valid.get(), split.test.get()}) {
      EXPECT_EQ(part->decoded_bytes(), 0);
      for (int64_t i = 0; i < part->size(); ++i) {
        const auto number = static_cast<size_t>(ReadNumber(*part, i));
        ASSERT_TRUE(left[number]) << number;
        left[number] = false;
      }
    }
    EXPECT_EQ(std::ranges::count(left, true), 0);
    const std::vector<bool> held_out = HeldOut(DataSplit{0.02, 3, 0.01, how}, kSize);
    for (int64_t i = 0; i < kRead; ++i) {
      ASSERT_FALSE(held_out[static_cast<size_t>(ReadNumber(*split.train, i))]);
    }
  }
}

TEST(SplitDatasetTest, RefusesWhatIsNoSplit) {
  const auto base = std::make_shared<Numbers>(10);
  for (double fraction : {0.0, 1.0, -0.5, 2.0, std::nan("")}) {
    EXPECT_NE(ErrorOf([&] { SplitDataset(base, fraction, 7); }), "no error") << fraction;
  }
  EXPECT_EQ(ErrorOf([&] { SplitDataset(base, 1.5, 7); }),
            "a split must lie between 0 and 1, but is 1.500000");
  EXPECT_EQ(ErrorOf([&] { SplitDataset(std::make_shared<Numbers>(1), 0.5, 7); }),
            "one sample cannot be split into training and validation");
  EXPECT_EQ(ErrorOf([&] { SplitDataset(base, 0.5, 7, 0.5); }),
            "the splits leave nothing to train on");
  EXPECT_EQ(ErrorOf([&] { SplitDataset(base, 0.5, 7, -0.5); }),
            "a split must lie between 0 and 1, but is -0.500000");
  EXPECT_EQ(ErrorOf([&] { SplitDataset(std::make_shared<Numbers>(2), 0.3, 7, 0.3); }),
            "two samples cannot be split into three sets");
}

TEST(SubsetTest, ReadsTheBasesSamples) {
  const Subset subset(std::make_shared<Numbers>(10), {2, 5, 7});
  EXPECT_EQ(subset.size(), 3);
  EXPECT_EQ(subset.fields()[0].name, "number");
  EXPECT_EQ(subset.decoded_bytes(), 24);
  int64_t number = 0;
  const std::span<std::byte> out[] = {std::as_writable_bytes(std::span(&number, 1))};
  subset.Read(1, out);
  EXPECT_EQ(number, 5);
}

}  // namespace
}  // namespace cgrun
