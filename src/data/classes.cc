// The option `classes`, the classes of the training set, and those that are found.
#include "src/data/classes.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "src/data/csv_values.h"
#include "src/data/options.h"
#include "src/data/text_number.h"

namespace cgrun {
namespace {

constexpr size_t kMostClasses = 65536;

std::optional<ClassTable> FromOption(const DataOption& option, Diagnostics& diagnostics) {
  ClassTable classes{{}, "of the option `classes`"};
  const int errors = diagnostics.error_count();
  if (option.items.empty()) {
    diagnostics.Error(option.mark, "'classes' must be a list of names",
                      "for example `classes: [cat, dog]`");
  }
  std::set<std::string_view> seen;
  for (const DataOption& item : option.items) {
    if (!seen.insert(item.value).second) {
      diagnostics.Error(item.mark, "class '" + item.value + "' stands twice in the list");
    }
    classes.names.push_back(item.value);
  }
  if (diagnostics.error_count() > errors) return std::nullopt;
  return classes;
}

const std::vector<std::string>* KeptClasses(const DataOptions& options, std::string_view field) {
  if (options.kept == nullptr) return nullptr;
  const auto kept = options.kept->names.find(ClassesKey(field));
  const bool any = kept != options.kept->names.end() && !kept->second.empty();
  return any ? &kept->second : nullptr;
}

// Other names may be better ones; the same in another order are other labels.
bool IsReordered(std::vector<std::string> names, std::vector<std::string> kept) {
  if (names == kept) return false;
  std::ranges::sort(names);
  std::ranges::sort(kept);
  return names == kept;
}

}  // namespace

std::optional<ClassTable> KnownClasses(const DataOptions& options, std::string_view field,
                                       Diagnostics& diagnostics) {
  const std::vector<std::string>* kept = KeptClasses(options, field);
  if (const DataOption* option = FindOption(options, "classes")) {
    std::optional<ClassTable> listed = FromOption(*option, diagnostics);
    if (!listed || kept == nullptr || !IsReordered(listed->names, *kept)) return listed;
    diagnostics.Error(option->mark, "the weights were trained with these classes in another order",
                      "leave `classes` out: the weights keep them");
    return std::nullopt;
  }
  if (kept != nullptr) return ClassTable{*kept, "of the weights"};
  if (options.train == nullptr) return ClassTable();
  const std::vector<DataField>& fields = options.train->fields();
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::span<const std::string> names = options.train->ClassNames(i);
    if (fields[i].name != field || names.empty()) continue;
    return ClassTable{{names.begin(), names.end()}, "of the training data"};
  }
  return ClassTable();
}

std::string ClassesKey(std::string_view field) { return "classes." + std::string(field); }

std::map<std::string, int32_t, std::less<>> LabelsOf(const ClassTable& classes) {
  std::map<std::string, int32_t, std::less<>> labels;
  for (const std::string& name : classes.names) {
    labels.emplace(name, static_cast<int32_t>(labels.size()));
  }
  return labels;
}

LabelTexts::LabelTexts(ClassTable known, bool may_be_names, std::string help)
    : classes_(std::move(known)),
      surveys_(may_be_names && !classes_.fixed()),
      help_(std::move(help)),
      labels_(LabelsOf(classes_)) {}

LabelTexts::News LabelTexts::Look(std::string_view text) {
  if (!surveys_) return News::kNothingNew;
  ++texts_;
  if (ParseInt32(text)) return integers_++ > 0 ? News::kNothingNew : News::kFirstInteger;
  if (met_.contains(text)) return News::kNothingNew;
  met_.emplace(text);
  if (met_.size() > kMostClasses) return News::kTooMany;
  return name_ ? News::kNothingNew : News::kFirstName;
}

void LabelTexts::Note(News news, SourceMark mark, Diagnostics& diagnostics) {
  if (news == News::kFirstInteger) integer_ = std::move(mark);
  if (news == News::kFirstName) name_ = std::move(mark);
  if (news != News::kTooMany) return;
  diagnostics.Error(std::move(mark),
                    "the label has more than " + std::to_string(kMostClasses) + " classes",
                    help_.empty() ? "a label is one of few names: is this the text, or an id of "
                                    "each line's own?"
                                  : help_);
  surveys_ = false;
}

// Returns help if all names are numbers, such as 1.5 and 2,5; "" where one is none.
std::string LabelTexts::MeasureHelp() const {
  const bool commas = std::ranges::any_of(met_, HasDecimalComma);
  const bool numbers = !met_.empty() && std::ranges::all_of(met_, [](const std::string& name) {
    return IsFiniteNumber(name) || HasDecimalComma(name);
  });
  if (help_.empty() || !numbers) return "";
  return help_ + (commas ? "; " + PointHelp() : "");
}

// If some texts are integers, returns the message about the first that is none.
std::string LabelTexts::MixedText(bool are_measures) const {
  const std::string odd = ", but the one in line " + std::to_string(integer_->line) + " is";
  const int64_t others = texts_ - integers_;
  if (others <= integers_) return "this label is not an integer" + odd;
  const std::string most =
      std::to_string(others) + " of the " + std::to_string(texts_) + " labels are not ";
  return are_measures ? most + "whole numbers" : most + "integers" + odd;
}

void LabelTexts::Settle(Diagnostics& diagnostics) {
  const std::string measure = name_ ? MeasureHelp() : "";
  if (name_ && integer_) {
    diagnostics.Error(*name_, MixedText(!measure.empty()),
                      measure.empty()
                          ? "if they are names all the same, list them: `classes: [a, b, c]`"
                          : measure);
    return;
  }
  if (!measure.empty()) {
    diagnostics.Warning(*name_,
                        "the labels are numbers, but not whole: they are taken for the names of " +
                            CountText(std::ssize(met_), "class", "classes"),
                        measure);
  }
  if (name_) classes_.names.assign(met_.begin(), met_.end());
  met_.clear();
  labels_ = LabelsOf(classes_);
}

std::optional<int32_t> LabelTexts::Find(std::string_view text) const {
  if (!of_names()) return ParseInt32(text);
  const auto found = labels_.find(text);
  return found == labels_.end() ? std::nullopt : std::optional(found->second);
}

std::string LabelTexts::UnknownText(std::string_view text) const {
  if (!of_names()) return QuotedText(text) + " is not an integer of 32 bits";
  return QuotedText(text) + " is none of the classes " + classes_.origin;
}

std::string LabelTexts::HelpFor(std::string_view text) const {
  if (!of_names()) return "the labels of the training data are integers";
  return SuggestName(std::string(text), classes_.names);
}

}  // namespace cgrun
