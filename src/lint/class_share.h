// Measures the share of the most frequent class in data, with which accuracies are to be compared.
#ifndef CGRUN_LINT_CLASS_SHARE_H_
#define CGRUN_LINT_CLASS_SHARE_H_

#include <optional>
#include <vector>

#include "src/lint/label_check.h"

namespace cgrun {

// The share of the most frequent class among the labels of all samples of a set, from 0 to 1. Only
// the first samples of a synthetic set are looked at. Returns nothing if the set has labels of
// several kinds, or has them not at hand.
std::optional<double> LargestClassShare(const LabelledSet& set, const std::vector<LabelUse>& uses);

}  // namespace cgrun

#endif  // CGRUN_LINT_CLASS_SHARE_H_
