// How often labels stand in data, and which of them may be others, misspelt.
#ifndef CGRUN_DATA_LABEL_CENSUS_H_
#define CGRUN_DATA_LABEL_CENSUS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/data/dataset.h"

namespace cgrun {

// How many samples have each of the first labels, and which has it first. For Dataset::Visit().
class LabelCensus final : public IntegerVisitor {
 public:
  explicit LabelCensus(size_t labels) : counts_(labels), first_(labels) {}

  void Visit(int64_t value, int64_t sample) override {
    if (value < 0 || value >= std::ssize(counts_)) return;
    const auto label = static_cast<size_t>(value);
    if (counts_[label]++ == 0) first_[label] = sample;
  }

  int64_t CountOf(size_t label) const { return counts_[label]; }
  int64_t FirstOf(size_t label) const { return first_[label]; }

 private:
  std::vector<int64_t> counts_, first_;
};

// Whether a label that `count` samples have is so rare beside one of `other` that it may be that
// one, misspelt.
inline bool IsRareBeside(int64_t count, int64_t other) {
  constexpr int64_t kRare = 10;  // times as often the other stands, if the rare one is not alone
  return count > 0 && other >= (count == 1 ? 2 : kRare * count);
}

}  // namespace cgrun

#endif  // CGRUN_DATA_LABEL_CENSUS_H_
