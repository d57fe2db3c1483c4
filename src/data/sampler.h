// Chooses samples and their order: the seeded order of an epoch, and the seeded split of a data
// set.
#ifndef CGRUN_DATA_SAMPLER_H_
#define CGRUN_DATA_SAMPLER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/base/computed_permutation.h"
#include "src/data/dataset.h"

namespace cgrun {

// The order of the samples 0 … size−1 in an epoch, a pure function of (seed, epoch); without
// `shuffle` it is 0, 1, 2, … in every epoch, and takes no memory.
class Sampler {
 public:
  Sampler(int64_t size, uint64_t seed, bool shuffle);

  // The bytes that the order of so many samples takes.
  static int64_t OrderBytes(int64_t size, bool shuffle);

  // Does not allocate.
  void StartEpoch(int64_t epoch);
  // Writes the sample numbers of the places `first`, `first` + 1, … of the epoch, as many as
  // `numbers` has elements. Does not allocate.
  void Numbers(int64_t first, std::span<int64_t> numbers) const;

 private:
  uint64_t key_;
  int64_t size_;
  bool shuffle_;
  std::vector<int64_t> order_;  // empty without `shuffle`
};

// Batches of an epoch: ceil(samples / batch), the last one may be partial.
int64_t BatchCount(int64_t samples, int64_t batch);

// The samples begin … begin + count − 1 of an order that is computed, or of the numbers themselves.
struct ComputedSamples {
  std::optional<ComputedPermutation> order;
  int64_t begin = 0, count = 0;
};

// Some samples of another data set: a list of them, in the order of their numbers there, or
// computed ones, which take no memory.
class Subset : public Dataset {
 public:
  // `indices` are samples of `base`.
  Subset(std::shared_ptr<const Dataset> base, std::vector<int64_t> indices);
  Subset(std::shared_ptr<const Dataset> base, const ComputedSamples& samples);

  int64_t size() const override { return computed_ ? computed_->count : std::ssize(indices_); }
  const std::vector<DataField>& fields() const override { return base_->fields(); }
  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override;
  void ReadField(size_t index, int64_t first, std::span<std::byte> out) const override;
  // The list of indices alone: the base, which several subsets may share, is counted by its owner.
  int64_t decoded_bytes() const override;
  std::span<const std::string> ClassNames(size_t index) const override {
    return base_->ClassNames(index);
  }
  DataFindings Findings() const override { return base_->Findings(); }
  std::vector<std::string> Notes() const override { return base_->Notes(); }
  const Dataset& whole() const override { return base_->whole(); }
  SamplePlace PlaceOf(size_t index, int64_t sample, std::optional<int64_t> value) const override {
    return base_->PlaceOf(index, NumberOf(sample), value);
  }

  const Dataset& base() const { return *base_; }
  // The list; empty where the samples are computed.
  std::span<const int64_t> indices() const { return indices_; }

 private:
  // The number in `base` of a sample.
  int64_t NumberOf(int64_t sample) const;

  std::shared_ptr<const Dataset> base_;
  std::vector<int64_t> indices_;
  std::optional<ComputedSamples> computed_;
};

struct DatasetSplit {
  std::unique_ptr<Subset> train;
  std::unique_ptr<Subset> valid;  // null where nothing was asked for
  std::unique_ptr<Subset> test;   // the same
};

// Numbers of samples, each list ascending.
struct SplitIndices {
  std::vector<int64_t> train, valid, test;
};

// A set of more samples is split by computed samples, since lists would take gigabytes.
inline constexpr int64_t kMostListed = int64_t{1} << 24;

// Returns the samples that SplitDataset() would take of `size` samples, at most kMostListed. All
// lists are empty where it would throw.
SplitIndices SplitSamples(int64_t size, double valid, uint64_t seed, double test = 0,
                          SplitOrder order = SplitOrder::kRandom);

// Returns for each of `size` samples whether `split` takes it away from the training data. No
// sample is taken without a split.
std::vector<bool> HeldOut(const std::optional<DataSplit>& split, int64_t size);
// Memory that this takes at most, the result included.
int64_t HeldOutBytes(const std::optional<DataSplit>& split, int64_t size);

// Splits `base`: round(fraction · size) of its samples become `valid` and `test`, the others
// `train`. They are chosen by the seed alone or as `order` says, and each part has one sample at
// least. The samples of `valid` do not depend on `test`. Throws UserError if `base` has too few
// samples, or if a fraction or the sum is not inside (0, 1). If one of the two fractions is 0, it
// asks for nothing. Random parts of a set of more than kMostListed samples are in random order.
DatasetSplit SplitDataset(const std::shared_ptr<const Dataset>& base, double valid, uint64_t seed,
                          double test = 0, SplitOrder order = SplitOrder::kRandom);

}  // namespace cgrun

#endif  // CGRUN_DATA_SAMPLER_H_
