// Tests the loader. It gives each sample once, and the same batches for any ring and any workers.
// It reports errors, shuts down at any moment, and allocates nothing after its construction.
#include "src/data/loader.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>
#include <limits>
#include <memory>
#include <set>

#include "src/base/allocation_counter.h"
#include "src/base/random.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

using std::chrono::microseconds;

// Sample i: its number, and 5 bytes that follow from it. Reading may take a while, and may fail.
class TestDataset : public Dataset {
 public:
  explicit TestDataset(int64_t size) : size_(size) {}

  int64_t size() const override { return size_; }
  const std::vector<DataField>& fields() const override { return fields_; }
  int64_t decoded_bytes() const override { return 0; }
  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override {
    if (index == bad_sample) throw UserError("sample is damaged", "mend it");
    if (index == odd_sample) throw std::runtime_error("a library failed");
    // Some samples take long, so that the workers' order differs from the batches' order.
    if (delay.count() > 0) std::this_thread::sleep_for(delay * (RandomBits(1, 0, index) % 3));
    std::memcpy(out[0].data(), &index, sizeof(index));
    std::ranges::fill(out[1], std::byte{static_cast<unsigned char>(index * 7 + 1)});
  }

  int64_t bad_sample = -1, odd_sample = -1;
  microseconds delay{0};

 private:
  int64_t size_;
  std::vector<DataField> fields_ = {{"number", DType::kI64, {}}, {"bytes", DType::kU8, {5}}};
};

// Holds a loader and its ring.
class TestLoader {
 public:
  TestLoader(const Dataset& dataset, const LoaderOptions& options)
      : bytes_(Loader::RingBytes(dataset.fields(), options.batch, options.slots)),
        memory_(static_cast<std::byte*>(std::aligned_alloc(64, static_cast<size_t>(bytes_)))),
        loader_(std::make_unique<Loader>(dataset, options,
                                         std::span(memory_.get(), static_cast<size_t>(bytes_)))) {}
  Loader* operator->() { return loader_.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  int64_t bytes_;
  std::unique_ptr<std::byte, Free> memory_;
  std::unique_ptr<Loader> loader_;
};

// The numbers of the samples in a batch, after a look at all that a batch promises.
std::vector<int64_t> Numbers(const Batch& batch, int64_t batch_size) {
  std::vector<int64_t> numbers(static_cast<size_t>(batch.count));
  EXPECT_EQ(batch.fields.at(0).size(), numbers.size() * 8);
  EXPECT_EQ(batch.fields.at(1).size(), numbers.size() * 5);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(batch.fields[0].data()) % 64, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(batch.fields[1].data()) % 64, 0u);
  EXPECT_EQ(batch.first, batch.index * batch_size);
  std::memcpy(numbers.data(), batch.fields[0].data(), numbers.size() * 8);
  EXPECT_TRUE(std::ranges::equal(batch.samples, numbers));
  for (size_t i = 0; i < numbers.size() * 5; ++i) {
    EXPECT_EQ(batch.fields[1][i], std::byte{static_cast<unsigned char>(numbers[i / 5] * 7 + 1)});
  }
  for (int64_t i = batch.count * 5; i < batch_size * 5; ++i) {
    EXPECT_EQ(batch.fields[1].data()[i], std::byte{0});
  }
  return numbers;
}

using Epoch = std::vector<std::vector<int64_t>>;

Epoch RestOfEpoch(TestLoader& loader, int64_t batch_size) {
  Epoch batches;
  while (const Batch* batch = loader->Next()) batches.push_back(Numbers(*batch, batch_size));
  return batches;
}

Epoch LoadEpoch(const Dataset& dataset, const LoaderOptions& options, int64_t epoch,
                int64_t first_batch = 0) {
  TestLoader loader(dataset, options);
  loader->StartEpoch(epoch, first_batch);
  return RestOfEpoch(loader, options.batch);
}

TEST(LoaderTest, EverySampleOnceAndThePartialBatchLast) {
  const TestDataset dataset(1065);
  const Epoch batches = LoadEpoch(dataset, {.batch = 100, .slots = 3, .seed = 7}, 0);
  ASSERT_EQ(batches.size(), 11u);
  std::set<int64_t> seen;
  for (size_t i = 0; i < 11; ++i) {
    EXPECT_EQ(batches[i].size(), i < 10 ? 100u : 65u);
    seen.insert(batches[i].begin(), batches[i].end());
  }
  EXPECT_EQ(seen.size(), 1065u);
  EXPECT_EQ(*seen.rbegin(), 1064);
}

TEST(LoaderTest, BatchesDependOnSeedAndEpochNotOnRingAndWorkers) {
  TestDataset dataset(203);
  dataset.delay = microseconds(20);
  const Epoch expected = LoadEpoch(dataset, {.batch = 10, .slots = 1, .seed = 7}, 5);
  for (int slots : {1, 2, 5, 30}) {
    for (int workers : {0, 1, 2, 4}) {
      const LoaderOptions options{.batch = 10, .slots = slots, .workers = workers, .seed = 7};
      EXPECT_EQ(LoadEpoch(dataset, options, 5), expected) << slots << " " << workers;
    }
  }
  EXPECT_NE(LoadEpoch(dataset, {.batch = 10, .seed = 7}, 6), expected);
  EXPECT_NE(LoadEpoch(dataset, {.batch = 10, .seed = 8}, 5), expected);
}

TEST(LoaderTest, WithoutShuffleTheOrderIsTheFiles) {
  const TestDataset dataset(5);
  EXPECT_EQ(LoadEpoch(dataset, {.batch = 2, .shuffle = false}, 3), (Epoch{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(LoadEpoch(dataset, {.batch = 9, .shuffle = false}, 3), (Epoch{{0, 1, 2, 3, 4}}));
}

TEST(LoaderTest, ResumesInsideAnEpoch) {
  const TestDataset dataset(105);
  const LoaderOptions options{.batch = 10, .slots = 4, .workers = 2, .seed = 7};
  const Epoch whole = LoadEpoch(dataset, options, 2);
  for (size_t first = 0; first <= whole.size(); ++first) {
    const Epoch rest(whole.begin() + static_cast<ptrdiff_t>(first), whole.end());
    EXPECT_EQ(LoadEpoch(dataset, options, 2, static_cast<int64_t>(first)), rest);
  }
}

TEST(LoaderTest, EpochsFollowEachOtherAndMayBeGivenUp) {
  TestDataset dataset(105);
  dataset.delay = microseconds(10);
  const LoaderOptions options{.batch = 10, .slots = 4, .workers = 2, .seed = 7};
  TestLoader loader(dataset, options);
  EXPECT_EQ(loader->Next(), nullptr);  // no epoch was started
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    loader->StartEpoch(epoch);
    for (int64_t i = 0; i < epoch; ++i) loader->Next();
  }
  loader->StartEpoch(3);
  EXPECT_EQ(RestOfEpoch(loader, 10), LoadEpoch(dataset, options, 3));
  EXPECT_EQ(loader->Next(), nullptr);
  EXPECT_EQ(loader->Next(), nullptr);
}

TEST(LoaderTest, AnyEpochIsThePureFunctionThatItShouldBe) {
  EXPECT_TRUE(rc::check([](uint64_t seed, uint8_t epoch) {
    const TestDataset dataset(*rc::gen::inRange(1, 60));
    LoaderOptions options{.batch = *rc::gen::inRange(1, 20), .seed = seed};
    options.slots = *rc::gen::inRange(1, 5);
    options.workers = *rc::gen::inRange(1, 4);
    Sampler sampler(dataset.size(), seed, true);
    sampler.StartEpoch(epoch);
    std::vector<int64_t> order;
    for (const auto& batch : LoadEpoch(dataset, options, epoch)) {
      order.insert(order.end(), batch.begin(), batch.end());
    }
    std::vector<int64_t> wanted(order.size());
    sampler.Numbers(0, wanted);
    RC_ASSERT(order == wanted);
    RC_ASSERT(std::ssize(order) == dataset.size());
  }));
}

TEST(LoaderTest, ABatchStaysWhileItIsHeld) {
  const TestDataset dataset(100);
  TestLoader loader(dataset, {.batch = 10, .slots = 2, .workers = 2, .shuffle = false});
  loader->StartEpoch(0);
  const Batch* batch = loader->Next();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // workers fill what they may
  EXPECT_EQ(Numbers(*batch, 10).front(), 0);
}

TEST(LoaderTest, ReadsAheadWhileTheCallerWorks) {
  TestDataset dataset(40);
  dataset.delay = microseconds(1000);
  TestLoader loader(dataset, {.batch = 10, .slots = 4, .shuffle = false});
  EXPECT_EQ(loader->stall_seconds(), 0.0);
  loader->StartEpoch(0);
  loader->Next();
  const double first = loader->stall_seconds();
  EXPECT_GT(first, 0.0);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the other three are ready then
  for (int i = 0; i < 3; ++i) loader->Next();
  EXPECT_LT(loader->stall_seconds() - first, 0.1);
}

TEST(LoaderTest, ErrorsComeWithTheirBatch) {
  TestDataset dataset(30);
  dataset.bad_sample = 15;
  for (int workers : {0, 1, 3}) {
    TestLoader loader(dataset, {.batch = 10, .slots = 3, .workers = workers, .shuffle = false});
    loader->StartEpoch(0);
    EXPECT_EQ(loader->Next()->count, 10);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(ErrorOf([&] { loader->Next(); }), "sample is damaged\nhelp: mend it");
    }
    loader->StartEpoch(1, 2);  // past it
    EXPECT_EQ(loader->Next()->count, 10);
  }
}

TEST(LoaderTest, ForeignExceptionsAreUserErrors) {
  TestDataset dataset(30);
  dataset.odd_sample = 3;
  TestLoader loader(dataset, {.batch = 10});
  loader->StartEpoch(0);
  const std::string error = ErrorOf([&] {
    while (loader->Next() != nullptr) {
    }
  });
  EXPECT_EQ(error, "a sample cannot be read: a library failed");
}

TEST(LoaderTest, EndsAtAnyMoment) {
  TestDataset dataset(200);
  dataset.delay = microseconds(30);
  for (int64_t i = 0; i < 60; ++i) {
    TestLoader loader(dataset, {.batch = 7, .slots = 3, .workers = 2});
    if (i % 10 == 0) continue;
    loader->StartEpoch(i);
    for (int64_t j = 0; j < i % 30; ++j) loader->Next();
    if (i % 3 == 0) loader->StartEpoch(i + 1);
  }
}

TEST(LoaderTest, NothingIsAllocatedAfterItsConstruction) {
  const TestDataset dataset(1065);
  TestLoader loader(dataset, {.batch = 100, .slots = 3, .workers = 2, .seed = 7});
  int64_t samples = 0;
  const int64_t before = CurrentHeapUse().allocations;
  for (int64_t epoch = 0; epoch < 5; ++epoch) {
    loader->StartEpoch(epoch);
    while (const Batch* batch = loader->Next()) samples += batch->count;
  }
  const int64_t after = CurrentHeapUse().allocations;
  EXPECT_EQ(samples, 5 * 1065);
  EXPECT_EQ(after, before);
}

TEST(LoaderTest, RingBytes) {
  const std::vector<DataField> fields = {{"a", DType::kU8, {5}}, {"b", DType::kF32, {}}};
  EXPECT_EQ(Loader::RingBytes(fields, 10, 3), 3 * (64 + 64));  // 50 and 40 bytes
  EXPECT_EQ(Loader::RingBytes(fields, 13, 1), 128 + 64);       // 65 and 52 bytes
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Loader::RingBytes(fields, most, 1), most);
  EXPECT_EQ(Loader::RingBytes(fields, most / 5, 2), most);
  EXPECT_EQ(Loader::RingBytes({}, 10, 3), 0);
}

TEST(LoaderDeathTest, TheRingMustBeLargeEnough) {
  const TestDataset dataset(10);
  alignas(64) static std::byte memory[128];
  EXPECT_DEATH(Loader(dataset, {.batch = 10}, memory), "RingBytes");
}

}  // namespace
}  // namespace cgrun
