// Counts each label.
#include "src/lint/class_share.h"

#include <algorithm>
#include <cstdint>

#include "src/data/field_values.h"

namespace cgrun {
namespace {

constexpr int64_t kMostClasses = int64_t{1} << 20;

// Labels that are no class are not counted.
class ClassCounts {
 public:
  explicit ClassCounts(int64_t classes) : counts_(static_cast<size_t>(classes)) {}

  void Visit(int64_t value, int64_t /*sample*/) {
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
  VisitIntegers(set.dataset->whole(), static_cast<size_t>(input - set.inputs.begin()), counts);
  return counts.LargestShare();
}

}  // namespace cgrun
