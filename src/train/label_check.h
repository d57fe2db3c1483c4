// Class labels against the number of classes of what reads them, and ids against a table's entries:
// when data is opened, and when a loss is not finite.
#ifndef CGRUN_TRAIN_LABEL_CHECK_H_
#define CGRUN_TRAIN_LABEL_CHECK_H_

#include <algorithm>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/data/dataset.h"
#include "src/data/loader.h"
#include "src/ir/graph.h"

namespace cgrun {

// An input that an operator reads as labels, or as ids, from 0 to classes − 1.
struct LabelUse {
  enum class Kind {
    kClasses,  // of logits
    kEntries,  // of the table of an embedding, which reads ids
    kBinary    // two, for one logit
  };

  std::string input;
  int64_t classes = 0;  // or entries
  std::string op;       // "softmax_cross_entropy"
  Kind kind = Kind::kClasses;
  IntList ignored = {};  // labels that need be no classes
  bool can_ignore = false;
  bool leaves_out = false;  // counts no label that is outside of the classes
  // The operator that has as many entries, units or filters, and which key says how many; without a
  // file where none is known.
  SourceMark maker = {};
  std::string key = {};

  bool Takes(int64_t label) const {
    return (label >= 0 && label < classes) || std::ranges::find(ignored, label) != ignored.end();
  }
};

// What losses, metrics and embeddings of a forward graph read from inputs: labels also where they
// were moved, as a mask is flipped with its image.
std::vector<LabelUse> FindLabelUses(const Graph& forward);

// A data set, and for each of its fields the input that takes it.
struct LabelledSet {
  const Dataset* dataset = nullptr;
  std::vector<std::string> inputs;
};

// Compares the labels of data sets that know them with the classes. One error a use, at the
// operator that is to have more classes, or at the data; where names are too many because of some
// that seem misspelt, these.
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

#endif  // CGRUN_TRAIN_LABEL_CHECK_H_
