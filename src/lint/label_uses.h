// FindLabelUses(): what of a graph reads labels, ids and probabilities, and which there may be.
#ifndef CGRUN_LINT_LABEL_USES_H_
#define CGRUN_LINT_LABEL_USES_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "src/ir/graph.h"

namespace cgrun {

// An input that an operator reads as labels, or as ids, from 0 to classes − 1.
struct LabelUse {
  enum class Kind {
    kClasses,       // of logits
    kEntries,       // of the table of an embedding, which reads ids
    kRows,          // of one_hot, for which an id that has none is a row without a one
    kBinary,        // two, for one logit
    kProbabilities  // of floats: from 0 to 1, for one logit
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

  // Returns whether what is read are ids, of which an operator of the model makes rows of numbers.
  bool reads_ids() const { return kind == Kind::kEntries || kind == Kind::kRows; }
  bool Takes(int64_t label) const {
    return (label >= 0 && label < classes) || std::ranges::find(ignored, label) != ignored.end();
  }
};

// Finds what losses, metrics and embeddings of a forward graph read from inputs. Labels are found
// behind operators that move them, too, as a mask is flipped with its image.
std::vector<LabelUse> FindLabelUses(const Graph& forward);

// Returns the value that `id` is made of by operators that leave labels as they are and drop none
// for good; `id` itself where there are none.
const Value& LabelSource(const Graph& graph, ValueId id);

}  // namespace cgrun

#endif  // CGRUN_LINT_LABEL_USES_H_
