// Orders and splits both come from the seeded permutation of src/base/random.h.
#include "src/data/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/base/check.h"
#include "src/base/random.h"

namespace cgrun {

Sampler::Sampler(int64_t size, uint64_t seed, bool shuffle)
    : key_(RandomKey(seed, "data/order")), size_(size), shuffle_(shuffle) {
  if (!shuffle) return;
  order_.resize(static_cast<size_t>(size));
  std::iota(order_.begin(), order_.end(), 0);
}

int64_t Sampler::OrderBytes(int64_t size, bool shuffle) {
  return shuffle ? size * static_cast<int64_t>(sizeof(int64_t)) : 0;
}

void Sampler::StartEpoch(int64_t epoch) {
  if (shuffle_) RandomPermutation(key_, static_cast<uint64_t>(epoch), order_);
}

void Sampler::Numbers(int64_t first, std::span<int64_t> numbers) const {
  CGRUN_CHECK(first >= 0 && first + std::ssize(numbers) <= size_) << first;
  if (shuffle_) {
    std::copy_n(order_.begin() + first, numbers.size(), numbers.begin());
  } else {
    std::iota(numbers.begin(), numbers.end(), first);
  }
}

int64_t BatchCount(int64_t samples, int64_t batch) {
  return samples / batch + (samples % batch != 0 ? 1 : 0);
}

Subset::Subset(std::shared_ptr<const Dataset> base, std::vector<int64_t> indices)
    : base_(std::move(base)), indices_(std::move(indices)) {
  for (int64_t index : indices_) CGRUN_CHECK(index >= 0 && index < base_->size()) << index;
}

Subset::Subset(std::shared_ptr<const Dataset> base, const ComputedSamples& samples)
    : base_(std::move(base)), computed_(samples) {
  CGRUN_CHECK(samples.begin >= 0 && samples.begin + samples.count <= base_->size());
}

int64_t Subset::NumberOf(int64_t sample) const {
  if (!computed_) return indices_[static_cast<size_t>(sample)];
  const int64_t place = computed_->begin + sample;
  return computed_->order ? (*computed_->order)[place] : place;
}

void Subset::Read(int64_t index, std::span<const std::span<std::byte>> out) const {
  base_->Read(NumberOf(index), out);
}

void Subset::ReadField(size_t index, int64_t first, std::span<std::byte> out) const {
  const auto bytes = static_cast<size_t>(fields()[index].bytes());
  for (size_t at = 0; bytes > 0 && at < out.size(); at += bytes, ++first) {
    base_->ReadField(index, NumberOf(first), out.subspan(at, bytes));
  }
}

int64_t Subset::decoded_bytes() const {
  return static_cast<int64_t>(indices_.capacity() * sizeof(int64_t));
}

namespace {

// Returns why there is no such split, or "" if there is one.
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

// Counts the samples of each part.
struct SplitCounts {
  int64_t train = 0, valid = 0, test = 0;
};

SplitCounts CountsOf(int64_t size, double valid, double test) {
  SplitCounts counts;
  counts.valid = CountOf(valid, size, size, test == 0.0 ? 1 : 2);
  counts.test = CountOf(test, size, size - counts.valid, 1);
  counts.train = size - counts.valid - counts.test;
  return counts;
}

uint64_t SplitKey(uint64_t seed) { return RandomKey(seed, "data/split"); }

// Holds the parts of a set of too many samples for lists.
struct ComputedSplit {
  ComputedSamples train, valid, test;
};

ComputedSplit ComputeSplit(int64_t size, const SplitCounts& counts, uint64_t seed, SplitOrder how) {
  if (how == SplitOrder::kInOrder) {
    return {{std::nullopt, 0, counts.train},
            {std::nullopt, counts.train, counts.valid},
            {std::nullopt, counts.train + counts.valid, counts.test}};
  }
  const ComputedPermutation order(SplitKey(seed), size);
  const int64_t held_out = counts.valid + counts.test;
  return {{order, held_out, counts.train},
          {order, 0, counts.valid},
          {order, counts.valid, counts.test}};
}

}  // namespace

SplitIndices SplitSamples(int64_t size, double valid, uint64_t seed, double test, SplitOrder how) {
  CGRUN_CHECK(size <= kMostListed) << size;
  if (!SplitFault(size, valid, test).empty()) return {};
  const SplitCounts counts = CountsOf(size, valid, test);
  std::vector<int64_t> order(static_cast<size_t>(size));
  if (how == SplitOrder::kRandom) {
    RandomPermutation(SplitKey(seed), 0, order);
  } else {  // `valid` and `test` are taken from its front
    for (int64_t i = 0; i < size; ++i) order[static_cast<size_t>(i)] = (counts.train + i) % size;
  }
  const auto part = [&](int64_t begin, int64_t count) {
    std::vector<int64_t> indices(order.begin() + begin, order.begin() + begin + count);
    std::sort(indices.begin(), indices.end());
    return indices;
  };
  SplitIndices parts;
  parts.valid = part(0, counts.valid);
  parts.test = part(counts.valid, counts.test);
  // The rest stays in its list, so that memory has it only once.
  order.erase(order.begin(), order.begin() + counts.valid + counts.test);
  std::sort(order.begin(), order.end());
  parts.train = std::move(order);
  return parts;
}

std::vector<bool> HeldOut(const std::optional<DataSplit>& split, int64_t size) {
  std::vector<bool> held_out(static_cast<size_t>(size), false);
  if (!split) return held_out;
  const auto& [fraction, seed, test, how] = *split;
  const auto hold = [&](int64_t sample) { held_out[static_cast<size_t>(sample)] = true; };
  if (size <= kMostListed) {
    const SplitIndices parts = SplitSamples(size, fraction, seed, test, how);
    std::ranges::for_each(parts.valid, hold);
    std::ranges::for_each(parts.test, hold);
  } else if (SplitFault(size, fraction, test).empty()) {
    const ComputedSplit parts = ComputeSplit(size, CountsOf(size, fraction, test), seed, how);
    for (const ComputedSamples& part : {parts.valid, parts.test}) {
      for (int64_t i = part.begin; i < part.begin + part.count; ++i) {
        hold(part.order ? (*part.order)[i] : i);
      }
    }
  }
  return held_out;
}
int64_t HeldOutBytes(const std::optional<DataSplit>& split, int64_t size) {
  // The order of all samples, if it is a list, those that are taken away, and a bit for each.
  constexpr double kPlace = sizeof(int64_t);
  const double each =
      split && size <= kMostListed ? kPlace * (1 + split->fraction + split->test) : 0;
  return static_cast<int64_t>(each * static_cast<double>(size)) + size / 8 + 1;
}

DatasetSplit SplitDataset(const std::shared_ptr<const Dataset>& base, double valid, uint64_t seed,
                          double test, SplitOrder order) {
  const std::string fault = SplitFault(base->size(), valid, test);
  if (!fault.empty()) throw UserError(fault);
  if (base->size() > kMostListed) {
    const ComputedSplit parts =
        ComputeSplit(base->size(), CountsOf(base->size(), valid, test), seed, order);
    const auto computed = [&](const ComputedSamples& samples) {
      return samples.count == 0 ? nullptr : std::make_unique<Subset>(base, samples);
    };
    return {computed(parts.train), computed(parts.valid), computed(parts.test)};
  }
  SplitIndices indices = SplitSamples(base->size(), valid, seed, test, order);
  const auto listed = [&](std::vector<int64_t> samples) {
    return samples.empty() ? nullptr : std::make_unique<Subset>(base, std::move(samples));
  };
  return {listed(std::move(indices.train)), listed(std::move(indices.valid)),
          listed(std::move(indices.test))};
}

}  // namespace cgrun
