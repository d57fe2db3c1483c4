// Names of classes, and the labels that they stand for.
#ifndef CGRUN_DATA_CLASSES_H_
#define CGRUN_DATA_CLASSES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/data/dataset.h"

namespace cgrun {

// The name of label 0 first; no names where labels are integers without any. `origin` says in
// messages where they come from; empty for those of the data themselves.
struct ClassTable {
  std::vector<std::string> names;
  std::string origin;

  bool fixed() const { return !origin.empty(); }
};

// Returns the classes that are known before the data are read. They are the names of the option
// `classes`, or else those that the weights keep for field `field`, or that it has in the training
// set. Returns no names where nobody knows any. Returns nothing after an error, such as that the
// option has the classes of the weights in another order.
std::optional<ClassTable> KnownClasses(const DataOptions& options, std::string_view field,
                                       Diagnostics& diagnostics);

// Returns the key under which findings hold the names of field `field`.
std::string ClassesKey(std::string_view field);

// Maps each class's name to its label.
std::map<std::string, int32_t, std::less<>> LabelsOf(const ClassTable& classes);

// The texts of one label and what they become: names are places among the classes, those that are
// known or, sorted, those that a first pass over the texts meets; without classes the texts are
// integers. The order is: Survey() all texts, Settle(), Find() each.
class LabelTexts {
 public:
  LabelTexts() = default;
  // `may_be_names`: the first pass looks for names where no classes are known. `help` tells what to
  // do where there are too many, or where they are numbers that measure something; "" where labels
  // are never such.
  LabelTexts(ClassTable known, bool may_be_names, std::string help = "");

  // Takes a text of the first pass. `mark_of()` says where it stands, and is called for few texts.
  template <class MarkOf>
  void Survey(std::string_view text, MarkOf mark_of, Diagnostics& diagnostics) {
    const News found = Look(text);
    if (found != News::kNothingNew) Note(found, mark_of(), diagnostics);
  }
  // Returns whether a first pass is to find out what the texts are: before it, no text is wrong.
  bool surveys() const { return surveys_; }
  // The end of the first pass: an error where some texts are integers and others names, a warning
  // where the names are numbers.
  void Settle(Diagnostics& diagnostics);

  // Returns whether the texts are names. The answer is known after Settle().
  bool of_names() const { return !labels_.empty(); }
  const std::vector<std::string>& names() const { return classes_.names; }
  // The label that a text stands for; nothing where it is no class, or no integer.
  std::optional<int32_t> Find(std::string_view text) const;
  // These describe a text without a label: "'x' is none of the classes of the training data", "'x'
  // is not an integer of 32 bits". HelpFor() gives the help.
  std::string UnknownText(std::string_view text) const;
  std::string HelpFor(std::string_view text) const;

 private:
  enum class News { kNothingNew, kFirstInteger, kFirstName, kTooMany };
  News Look(std::string_view text);
  void Note(News found, SourceMark mark, Diagnostics& diagnostics);
  std::string MeasureHelp() const;
  std::string MixedText(bool are_measures) const;

  ClassTable classes_;
  bool surveys_ = false;
  std::string help_;
  std::map<std::string, int32_t, std::less<>> labels_;
  std::set<std::string, std::less<>> met_;    // names, in the first pass
  std::optional<SourceMark> name_, integer_;  // the first of each
  int64_t texts_ = 0, integers_ = 0;          // in the first pass
};

}  // namespace cgrun

#endif  // CGRUN_DATA_CLASSES_H_
