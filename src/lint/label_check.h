// Compares class labels with the number of classes of their readers, and ids with a table's
// entries: when data is opened, and when a loss is not finite.
#ifndef CGRUN_LINT_LABEL_CHECK_H_
#define CGRUN_LINT_LABEL_CHECK_H_

#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/data/dataset.h"
#include "src/data/loader.h"
#include "src/lint/label_uses.h"

namespace cgrun {

// A data set, and for each of its fields the input that takes it.
struct LabelledSet {
  const Dataset* dataset = nullptr;
  std::vector<std::string> inputs;
};

// Compares the labels of data sets that know them with the classes. Reports one error a use, at the
// operator that is to have more classes, or at the data.
void CheckLabels(const std::vector<LabelledSet>& sets, const std::vector<LabelUse>& uses,
                 Diagnostics& diagnostics);

// Warns of logits with more units than the training data have classes, as one sample's label.
void WarnOfSpareUnits(const LabelledSet& train, const std::vector<LabelUse>& uses,
                      Diagnostics& diagnostics);

// A sentence about the first label of a batch that is outside its classes; empty if there is none.
std::string DescribeBadLabel(const Batch& batch, const Dataset& dataset,
                             const std::vector<std::string>& inputs,
                             const std::vector<LabelUse>& uses);

}  // namespace cgrun

#endif  // CGRUN_LINT_LABEL_CHECK_H_
