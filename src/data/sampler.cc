// Orders and splits, both from the seeded permutation of src/base/random.h.
#include "src/data/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/base/check.h"
#include "src/base/random.h"

namespace cgrun {

Sampler::Sampler(int64_t size, uint64_t seed, bool shuffle)
    : key_(RandomKey(seed, "data/order")), shuffle_(shuffle), order_(static_cast<size_t>(size)) {
  std::iota(order_.begin(), order_.end(), 0);
}

void Sampler::StartEpoch(int64_t epoch) {
  if (shuffle_) RandomPermutation(key_, static_cast<uint64_t>(epoch), order_);
}

int64_t BatchCount(int64_t samples, int64_t batch) {
  return samples / batch + (samples % batch != 0 ? 1 : 0);
}

Subset::Subset(std::shared_ptr<const Dataset> base, std::vector<int64_t> indices)
    : base_(std::move(base)), indices_(std::move(indices)) {
  for (int64_t index : indices_) CGRUN_CHECK(index >= 0 && index < base_->size()) << index;
}

void Subset::Read(int64_t index, std::span<const std::span<std::byte>> out) const {
  base_->Read(indices_[static_cast<size_t>(index)], out);
}

int64_t Subset::decoded_bytes() const {
  return static_cast<int64_t>(indices_.size() * sizeof(int64_t));
}

SplitIndices SplitSamples(int64_t size, double fraction, uint64_t seed) {
  if (!(fraction > 0.0 && fraction < 1.0) || size < 2) return {};
  const auto wanted = static_cast<int64_t>(std::llround(fraction * static_cast<double>(size)));
  const auto count = static_cast<ptrdiff_t>(std::clamp<int64_t>(wanted, 1, size - 1));
  std::vector<int64_t> order = RandomPermutation(RandomKey(seed, "data/split"), size);
  std::sort(order.begin(), order.begin() + count);
  std::sort(order.begin() + count, order.end());
  return {std::vector(order.begin() + count, order.end()),
          std::vector(order.begin(), order.begin() + count)};
}

DatasetSplit SplitDataset(const std::shared_ptr<const Dataset>& base, double fraction,
                          uint64_t seed) {
  if (!(fraction > 0.0 && fraction < 1.0)) {
    throw UserError("a split must lie between 0 and 1, but is " + std::to_string(fraction));
  }
  if (base->size() < 2) {
    throw UserError("one sample cannot be split into training and validation");
  }
  SplitIndices indices = SplitSamples(base->size(), fraction, seed);
  return {std::make_unique<Subset>(base, std::move(indices.train)),
          std::make_unique<Subset>(base, std::move(indices.valid))};
}

}  // namespace cgrun
