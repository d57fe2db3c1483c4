// Counts each label.
#include "src/lint/class_share.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "src/data/dataset.h"

namespace cgrun {
namespace {

constexpr int64_t kMostClasses = int64_t{1} << 20;
// Synthetic sets can have 2⁴⁰ samples. The share among so many of them is off by less than 0.005.
constexpr int64_t kMostComputed = 100'000;

// Labels that are no class are not counted.
class ClassCounts {
 public:
  explicit ClassCounts(int64_t classes) : counts_(static_cast<size_t>(classes)) {}

  void Visit(int64_t value) {
    if (value < 0 || value >= static_cast<int64_t>(counts_.size())) return;
    ++counts_[static_cast<size_t>(value)];
    ++all_;
  }

  std::optional<double> LargestShare() const {
    if (all_ == 0) return std::nullopt;
    return static_cast<double>(*std::ranges::max_element(counts_)) / static_cast<double>(all_);
  }

 private:
  std::vector<int64_t> counts_;
  int64_t all_ = 0;
};

// Samples whose labels are to be counted; 0 where they are not at hand. A sample that comes from no
// file is computed.
int64_t SamplesToCount(const Dataset& set, size_t field) {
  const Dataset& whole = set.whole();
  if (whole.AtHand(field)) return set.size();
  const bool computed = set.size() > 0 && whole.PlaceOf(field, 0, std::nullopt).file.empty();
  return computed ? std::min(set.size(), kMostComputed) : 0;
}

template <class T>
void CountAs(const Dataset& set, size_t field, ClassCounts& counts) {
  constexpr int64_t kBlock = 1 << 18;  // bytes
  const int64_t bytes = set.fields()[field].bytes(), samples = SamplesToCount(set, field);
  if (bytes == 0) return;
  const int64_t most = std::max<int64_t>(1, kBlock / bytes);
  std::vector<std::byte> block(static_cast<size_t>(std::min(most, samples) * bytes));
  for (int64_t first = 0; first < samples; first += most) {
    const int64_t count = std::min(most, samples - first);
    const auto part = std::span(block).first(static_cast<size_t>(count * bytes));
    set.ReadField(field, first, part);
    for (size_t at = 0; at < part.size(); at += sizeof(T)) {
      T value;
      std::memcpy(&value, part.data() + at, sizeof(T));
      counts.Visit(static_cast<int64_t>(value));
    }
  }
}

void Count(const Dataset& set, size_t field, ClassCounts& counts) {
  const DType dtype = set.fields()[field].dtype;
  if (dtype == DType::kI64) CountAs<int64_t>(set, field, counts);
  if (dtype == DType::kI32) CountAs<int32_t>(set, field, counts);
  if (dtype == DType::kU8) CountAs<uint8_t>(set, field, counts);
}

int64_t ClassesOf(const LabelUse& use) {
  if (use.kind == LabelUse::Kind::kBinary) return 2;
  return use.kind == LabelUse::Kind::kClasses ? use.classes : 0;
}

}  // namespace

std::optional<double> LargestClassShare(const LabelledSet& set, const std::vector<LabelUse>& uses) {
  const LabelUse* of_classes = nullptr;
  for (const LabelUse& use : uses) {
    if (ClassesOf(use) == 0) continue;
    if (of_classes != nullptr && of_classes->input != use.input) return std::nullopt;
    of_classes = &use;
  }
  if (of_classes == nullptr || ClassesOf(*of_classes) > kMostClasses) return std::nullopt;
  const auto input = std::ranges::find(set.inputs, of_classes->input);
  if (input == set.inputs.end()) return std::nullopt;
  ClassCounts counts(ClassesOf(*of_classes));
  Count(*set.dataset, static_cast<size_t>(input - set.inputs.begin()), counts);
  return counts.LargestShare();
}

}  // namespace cgrun
