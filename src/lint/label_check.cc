// Finding labels that name no class, and ids that name no entry; and telling of them.
#include "src/lint/label_check.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "src/data/field_values.h"
#include "src/data/options.h"
#include "src/lint/probability_check.h"

namespace cgrun {
namespace {

std::string ClassesText(const LabelUse& use) {
  const std::string count = std::to_string(use.classes);
  const std::string of = " of " + use.op;
  const bool is_table = use.kind == LabelUse::Kind::kEntries;
  if (use.kind == LabelUse::Kind::kBinary) return "the labels" + of + " are 0 and 1";
  if (use.kind == LabelUse::Kind::kRows) {
    return use.classes == 1
               ? "the only class" + of + " is 0"
               : "the " + count + " classes" + of + " are 0 to " + std::to_string(use.classes - 1);
  }
  if (use.classes == 1) {
    return is_table ? "the only entry" + of + " is 0"
                    : "the only class" + of + " is 0, as its logits have one unit";
  }
  const std::string range = " are 0 to " + std::to_string(use.classes - 1);
  return "the " + count + (is_table ? " entries" : " classes") + of + range +
         (is_table ? "" : ", as its logits have " + count + " units");
}

// "has the label 7, but the 4 classes of softmax_cross_entropy are 0 to 3, as its logits have 4
// units"; "has the id 7 ('zebra'), but …" where the data have `text` for it.
std::string FaultText(int64_t label, const std::string& text, const LabelUse& use) {
  return std::string("has the ") + (use.reads_ids() ? "id " : "label ") + std::to_string(label) +
         (text.empty() ? "" : " (" + text + ")") + ", but " + ClassesText(use);
}

// A label, and which sample has it, as its data set counts.
struct Label {
  int64_t value = 0;
  int64_t sample = 0;
};

// Finds the labels of a data set that a use does not take, and the range of all that count.
class OutsideFinder {
 public:
  explicit OutsideFinder(const LabelUse& use) : use_(use) {}

  void Visit(int64_t value, int64_t sample) {
    const bool is_known = any_ && value >= smallest_.value && value <= largest_.value;
    const bool is_class = value >= 0 && value < use_.classes;
    if ((is_known && is_class) || std::ranges::find(use_.ignored, value) != use_.ignored.end()) {
      return;
    }
    if (!any_ || value < smallest_.value) smallest_ = {value, sample};
    if (!any_ || value > largest_.value) largest_ = {value, sample};
    any_ = true;
    if (is_class || (samples_ > 0 && last_ == sample)) return;
    last_ = sample;
    ++samples_;
    if (first_.size() <= kMostNamed) first_.push_back({value, sample});
  }

  bool any() const { return any_; }
  int64_t smallest() const { return smallest_.value; }
  int64_t largest() const { return largest_.value; }
  // Samples that have a label outside.
  int64_t samples() const { return samples_; }
  // The label that is furthest outside.
  Label worst() const { return smallest_.value < 0 ? smallest_ : largest_; }
  // The first labels outside in other samples.
  std::vector<Label> Others() const {
    std::vector<Label> others = first_;
    std::erase_if(others, [this](const Label& label) { return label.sample == worst().sample; });
    if (others.size() > kMostNamed) others.pop_back();
    return others;
  }

 private:
  static constexpr size_t kMostNamed = 3;

  const LabelUse& use_;
  bool any_ = false;
  Label smallest_, largest_;
  int64_t samples_ = 0, last_ = 0;
  std::vector<Label> first_;
};

// A fault of a use: the label that is furthest outside in the first set that has one, and the range
// over all sets.
struct Finding {
  int64_t label = 0;
  SamplePlace place;
  std::string others;  // "; and 2 more samples …"
  int64_t smallest = 0, largest = 0;
  int64_t least = 0;  // over all sets
};

// Returns whether labels are 1 to the number of classes, which no set has 0 beside.
bool CountsFromOne(const Finding& finding, const LabelUse& use) {
  return finding.least == 1 && finding.largest == use.classes && use.classes > 1 &&
         !use.reads_ids();
}

// Masks have this number where there is no class.
constexpr int64_t kNoClass = 255;

bool MayBeIgnored(const Finding& finding, const LabelUse& use) {
  return use.can_ignore && finding.largest == kNoClass;
}

bool IsMendedByOperator(const Finding& finding, const LabelUse& use) {
  return finding.smallest >= 0 && use.maker.file != nullptr && !MayBeIgnored(finding, use) &&
         !CountsFromOne(finding, use);
}

// "labels count from 0: write 0 for 1, and so on to 2 for 3"; of a text also how its numbers become
// names.
std::string FromOneText(const Finding& finding) {
  const std::string last = std::to_string(finding.largest);
  const std::string text = "labels count from 0: write 0 for 1" +
                           std::string(finding.largest == 2 ? " and " : ", and so on to ") +
                           std::to_string(finding.largest - 1) + " for " + last;
  if (!finding.place.in_file()) return text;
  const std::string middle = finding.largest > 3   ? "1, 2, …, "
                             : finding.largest > 2 ? "1, 2, "
                                                   : "1, ";
  return text + "; or `classes: [" + middle + last + "]` in `data.train` makes them names";
}

std::string HelpText(const Finding& range, const LabelUse& use) {
  if (CountsFromOne(range, use)) return FromOneText(range);
  if (use.kind == LabelUse::Kind::kBinary && range.smallest >= 0) {
    return "for more classes than two take softmax_cross_entropy, with a unit a class";
  }
  if (range.smallest < 0 && use.can_ignore) {
    return "labels count from 0; `ignore_label: " + std::to_string(range.smallest) + "` of " +
           use.op + " leaves such labels out";
  }
  if (range.smallest < 0) return use.reads_ids() ? "ids count from 0" : "labels count from 0";
  const std::string needed = std::to_string(range.largest + 1);
  if (!IsMendedByOperator(range, use)) {
    const std::string ignore = MayBeIgnored(range, use)
                                   ? "`ignore_label: " + std::to_string(kNoClass) + "` of " +
                                         use.op + " leaves such labels out; or "
                                   : "";
    return ignore + "give the operator that makes the logits " + needed +
           " units, or check the file";
  }
  return "write `" + use.key + ": " + needed +
         "` here, or check the data: " + range.place.mark.ToString();
}

// Returns the uses of an input, that with the fewest classes first.
std::vector<const LabelUse*> UsesOf(const std::string& input, const std::vector<LabelUse>& uses) {
  std::vector<const LabelUse*> found;
  for (const LabelUse& use : uses) {
    if (use.input == input) found.push_back(&use);
  }
  std::ranges::stable_sort(found, {}, &LabelUse::classes);
  return found;
}

// The first of them that a label is none of; null where all take it.
const LabelUse* RefusedBy(const std::vector<const LabelUse*>& uses, int64_t label) {
  const auto found = std::ranges::find_if(
      uses, [=](auto* use) { return use->kind != LabelUse::Kind::kRows && !use->Takes(label); });
  return found == uses.end() ? nullptr : *found;
}

std::optional<int64_t> IntegerAt(DType dtype, const std::byte* bytes) {
  const auto load = [bytes]<class T>(T value) {
    std::memcpy(&value, bytes, sizeof(T));
    return static_cast<int64_t>(value);
  };
  if (dtype == DType::kI64) return load(int64_t{});
  if (dtype == DType::kI32) return load(int32_t{});
  if (dtype == DType::kU8) return load(uint8_t{});
  return std::nullopt;
}

// "prices.csv:3:7" of a text, "'photos/cat/1.png'" of a file of its own; else "sample 5", with its
// file where that is not `file`.
std::string PlaceText(const SamplePlace& place, const std::string& file) {
  if (place.in_file()) return place.mark.ToString();
  if (place.own) return "'" + place.file + "'";
  return (place.file == file ? "" : "'" + place.file + "', ") + "sample " +
         std::to_string(place.sample);
}

// "; and 2 more samples have such labels: 9 (sample 6), 7 (sample 8)"; "" where there are none. The
// folder of a class stands for all of its samples.
std::string OthersText(const Dataset& dataset, size_t field, const OutsideFinder& outside,
                       const Finding& finding, const LabelUse& use) {
  const int64_t more = outside.samples() - 1;
  if (more == 0) return "";
  const std::string text = "; and " + CountText(more, "more sample") +
                           (more == 1 ? " has" : " have") +
                           (use.reads_ids() ? " such ids" : " such labels");
  const std::vector<Label> others = outside.Others();
  std::set<std::string> places;
  if (finding.place.own) places.insert(PlaceText(finding.place, ""));
  std::string listed;
  for (const Label& other : others) {
    const std::string place =
        PlaceText(dataset.PlaceOf(field, other.sample, other.value), finding.place.file);
    if (!places.insert(place).second) continue;
    listed += (listed.empty() ? ": " : ", ") + std::to_string(other.value) + " (" + place + ")";
  }
  return text + listed + (!listed.empty() && more > std::ssize(others) ? ", …" : "");
}

// Returns whether the data have a name for a label: who gives numbers may mean a row without a one
// by some.
bool IsNamed(const Dataset& dataset, size_t field, const Label& label) {
  return !dataset.ClassNames(field).empty() ||
         !dataset.PlaceOf(field, label.sample, label.value).text.empty();
}

// Adds to `findings` if a set has an element that `use` does not take. Returns whether it has one.
bool FindOutside(const Dataset& dataset, size_t field, const LabelUse& use,
                 std::map<const LabelUse*, Finding>& findings,
                 std::map<const LabelUse*, int64_t>& least) {
  OutsideFinder outside(use);
  VisitIntegers(dataset, field, outside);
  if (outside.any()) {
    const auto [of_use, is_first] = least.try_emplace(&use, outside.smallest());
    if (!is_first) of_use->second = std::min(of_use->second, outside.smallest());
  }
  if (outside.samples() == 0) return false;
  if (use.kind == LabelUse::Kind::kRows && !IsNamed(dataset, field, outside.worst())) return false;
  const auto [finding, is_new] = findings.try_emplace(&use);
  Finding& of_use = finding->second;
  if (is_new) {
    const Label worst = outside.worst();
    of_use = {worst.value, dataset.PlaceOf(field, worst.sample, worst.value), "",
              outside.smallest(), outside.largest()};
    of_use.others = OthersText(dataset, field, outside, of_use, use);
    const std::span<const std::string> names = dataset.ClassNames(field);
    if (!names.empty()) {
      of_use.others += "; the labels are " + QuotedNames({names.begin(), names.end()});
    }
  }
  of_use.largest = std::max(of_use.largest, outside.largest());
  return true;
}

// "'labels.gz': sample 5 has", "'photos/cat/1.png' has", or the place in a text, where `in_text`.
std::string HolderText(const SamplePlace& place, bool in_text) {
  if (place.own) return "'" + place.file + "' ";
  const std::string sample = "sample " + std::to_string(place.sample) + " ";
  if (!place.in_file()) return "'" + place.file + "': " + sample;
  return (in_text ? place.mark.ToString() + ": " : "") + sample;
}

void Report(const Finding& finding, const LabelUse& use, Diagnostics& diagnostics) {
  const bool at_operator = IsMendedByOperator(finding, use);
  diagnostics.Error(at_operator ? use.maker : finding.place.mark,
                    HolderText(finding.place, at_operator) +
                        FaultText(finding.label, finding.place.text, use) + finding.others,
                    HelpText(finding, use));
}

// "sample 5 of the training data ", or the file that is this sample.
std::string SampleText(const Dataset& dataset, size_t field, int64_t sample) {
  const SamplePlace place = dataset.PlaceOf(field, sample, std::nullopt);
  if (place.own) return "'" + place.file + "' ";
  return "sample " + std::to_string(sample) + " of the training data ";
}

}  // namespace

void CheckLabels(const std::vector<LabelledSet>& sets, const std::vector<LabelUse>& uses,
                 Diagnostics& diagnostics) {
  std::map<const LabelUse*, Finding> findings;
  std::map<const LabelUse*, int64_t> least;  // labels, of all sets
  for (const auto& [dataset, inputs] : sets) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      for (const LabelUse* use : UsesOf(inputs[i], uses)) {
        // A sample that is wrong is wrong in either part of a set.
        if (FindOutside(dataset->whole(), i, *use, findings, least)) break;
      }
    }
  }
  for (auto& [use, finding] : findings) {
    finding.least = least.at(use);
    Report(finding, *use, diagnostics);
  }
  CheckProbabilities(sets, uses, diagnostics);
}

void WarnOfSpareUnits(const LabelledSet& train, const std::vector<LabelUse>& uses,
                      Diagnostics& diagnostics) {
  const auto& [dataset, inputs] = train;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (dataset->fields()[i].shape.Elements() != 1) continue;
    for (const LabelUse* use : UsesOf(inputs[i], uses)) {
      if (use->kind != LabelUse::Kind::kClasses || use->key.empty()) continue;
      OutsideFinder labels(*use);
      VisitIntegers(dataset->whole(), i, labels);
      const int64_t known = std::max(labels.largest() + 1, std::ssize(dataset->ClassNames(i)));
      if (!labels.any() || known >= use->classes) continue;
      diagnostics.Warning(use->maker,
                          "the logits have " + std::to_string(use->classes) +
                              " units, but the labels of the training data are " +
                              (known == 1 ? "all 0" : "0 to " + std::to_string(known - 1)),
                          "write `" + use->key + ": " + std::to_string(known) +
                              "` here, unless other data have more classes");
    }
  }
}

std::string DescribeBadLabel(const Batch& batch, const Dataset& dataset,
                             const std::vector<std::string>& inputs,
                             const std::vector<LabelUse>& uses) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<const LabelUse*> of_input = UsesOf(inputs[i], uses);
    if (of_input.empty()) continue;
    const DataField& field = dataset.fields()[i];
    const int64_t size = SizeOf(field.dtype), each = field.shape.Elements();
    for (int64_t k = 0; k < batch.count * each; ++k) {
      const auto label = IntegerAt(field.dtype, batch.fields[i].data() + k * size);
      const LabelUse* use = label ? RefusedBy(of_input, *label) : nullptr;
      if (use == nullptr) continue;
      return SampleText(dataset, i, batch.samples[static_cast<size_t>(k / each)]) +
             FaultText(*label, "", *use);
    }
  }
  return "";
}

}  // namespace cgrun
