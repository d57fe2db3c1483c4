// Orders and splits both come from the seeded permutation of src/base/random.h.
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
  return static_cast<int64_t>(indices_.capacity() * sizeof(int64_t));
}

namespace {

// Why there is no such split; "" where there is.
std::string SplitFault(int64_t size, double valid, double test) {
  const auto inside = [](double fraction) { return fraction > 0.0 && fraction < 1.0; };
  const bool test_alone = valid == 0.0 && test != 0.0;
  for (const double fraction : {test_alone ? test : valid, test == 0.0 ? valid : test}) {
    if (inside(fraction)) continue;
    return "a split must lie between 0 and 1, but is " + std::to_string(fraction);
  }
  if (valid + test >= 1.0) return "the splits leave nothing to train on";
  if (size < 2) return "one sample cannot be split into training and validation";
  const bool both = valid != 0.0 && test != 0.0;
  return both && size < 3 ? "two samples cannot be split into three sets" : "";
}

// The samples of a part; `others` must keep one each.
int64_t CountOf(double fraction, int64_t size, int64_t left, int64_t others) {
  if (fraction == 0.0) return 0;
  const auto wanted = static_cast<int64_t>(std::llround(fraction * static_cast<double>(size)));
  return std::clamp<int64_t>(wanted, 1, left - others);
}

}  // namespace

SplitIndices SplitSamples(int64_t size, double valid, uint64_t seed, double test, SplitOrder how) {
  if (!SplitFault(size, valid, test).empty()) return {};
  const int64_t valid_count = CountOf(valid, size, size, test == 0.0 ? 1 : 2);
  const int64_t test_count = CountOf(test, size, size - valid_count, 1);
  std::vector<int64_t> order(static_cast<size_t>(size));
  if (how == SplitOrder::kRandom) {
    RandomPermutation(RandomKey(seed, "data/split"), 0, order);
  } else {  // `valid` and `test` are taken from its front
    const int64_t train_count = size - valid_count - test_count;
    for (int64_t i = 0; i < size; ++i) order[static_cast<size_t>(i)] = (train_count + i) % size;
  }
  const auto part = [&](int64_t begin, int64_t count) {
    std::vector<int64_t> indices(order.begin() + begin, order.begin() + begin + count);
    std::sort(indices.begin(), indices.end());
    return indices;
  };
  SplitIndices parts;
  parts.valid = part(0, valid_count);
  parts.test = part(valid_count, test_count);
  // The rest stays in its list, so that it is not held twice.
  order.erase(order.begin(), order.begin() + valid_count + test_count);
  std::sort(order.begin(), order.end());
  parts.train = std::move(order);
  return parts;
}

std::vector<bool> HeldOut(const std::optional<DataSplit>& split, int64_t size) {
  std::vector<bool> held_out(static_cast<size_t>(size), false);
  if (!split) return held_out;
  const auto& [fraction, seed, test, order] = *split;
  const SplitIndices parts = SplitSamples(size, fraction, seed, test, order);
  for (const int64_t sample : parts.valid) held_out[static_cast<size_t>(sample)] = true;
  for (const int64_t sample : parts.test) held_out[static_cast<size_t>(sample)] = true;
  return held_out;
}

int64_t HeldOutBytes(const std::optional<DataSplit>& split, int64_t size) {
  // The order of all samples, beside it those that are taken away, and a bit for each.
  constexpr double kPlace = sizeof(int64_t);
  const double each = split ? kPlace * (1 + split->fraction + split->test) : 0;
  return static_cast<int64_t>(each * static_cast<double>(size)) + size / 8 + 1;
}

DatasetSplit SplitDataset(const std::shared_ptr<const Dataset>& base, double valid, uint64_t seed,
                          double test, SplitOrder order) {
  const std::string fault = SplitFault(base->size(), valid, test);
  if (!fault.empty()) throw UserError(fault);
  SplitIndices indices = SplitSamples(base->size(), valid, seed, test, order);
  const auto part = [&](std::vector<int64_t> samples) {
    return samples.empty() ? nullptr : std::make_unique<Subset>(base, std::move(samples));
  };
  return {part(std::move(indices.train)), part(std::move(indices.valid)),
          part(std::move(indices.test))};
}

}  // namespace cgrun
