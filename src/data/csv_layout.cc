// Columns are found by name or number; what is not a label is a feature.
#include "src/data/csv_layout.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "src/data/csv_cell_help.h"
#include "src/data/csv_column_help.h"
#include "src/data/csv_order.h"
#include "src/data/encoding.h"
#include "src/data/options.h"
#include "src/data/text_number.h"

namespace cgrun {
namespace {

constexpr DType kTypes[] = {DType::kF64, DType::kF32, DType::kI64, DType::kI32, DType::kU8};

class LayoutReader {
 public:
  LayoutReader(const CsvOptions& csv, const DataOptions& options, Diagnostics& diagnostics)
      : csv_(csv),
        options_(options),
        diagnostics_(diagnostics),
        errors_before_(diagnostics.error_count()),
        shared_(SharedFindings(options)) {}

  std::optional<CsvLayout> Read(const CsvReader& first) {
    if (!TakeFirstRecord(first)) return std::nullopt;
    return std::move(layout_);
  }

 private:
  bool Failed() const { return diagnostics_.error_count() > errors_before_; }
  std::string path() const { return ResolvePath(options_, *FindOption(options_, "file")); }

  bool TakeFirstRecord(const CsvReader& reader);
  ColumnHelp Help() const { return {csv_, options_, shared_, layout_.names, first_}; }
  // The columns of a name, which may be many.
  struct Named {
    size_t first = 0;
    int64_t count = 0;
  };
  Named ColumnsNamed(const std::string& name);
  std::optional<size_t> FindColumn(const DataOption& name);
  std::vector<size_t> FindColumns(const std::string& option,
                                  const std::vector<size_t>& labels = {});
  std::optional<size_t> FindGroup(const std::vector<size_t>& labels);
  void CheckNoLabel(size_t column, const std::set<size_t>& labels, const SourceMark& mark,
                    const std::string& help);
  void ReportUnknown();
  void WarnOfNames(const CsvReader& reader);
  bool Trains() const {
    return options_.train == nullptr && options_.kept == nullptr && !options_.to_predict;
  }
  void WarnOfNoName(const CsvReader& reader, const std::vector<size_t>& features);
  void WarnOfSameNames(const CsvReader& reader, const std::vector<size_t>& features);
  bool ChooseColumns(const CsvReader& reader);
  bool HasLabelsElsewhere(const std::vector<size_t>& labels) const;
  std::vector<size_t> Ordered(const std::string& option, std::vector<size_t> columns,
                              const std::vector<size_t>& labels);
  std::vector<size_t> FindCategories(const std::vector<size_t>& labels);
  std::vector<size_t> FindFeatures(const std::vector<size_t>& labels,
                                   const std::vector<size_t>& categories);
  std::optional<std::vector<size_t>> SharedFeatures();
  void AddFields(const std::vector<size_t>& features, const std::vector<size_t>& categories,
                 const std::vector<size_t>& labels);
  void AddField(CsvRole role, const std::vector<std::string>& names,
                const std::vector<size_t>& columns);
  void ChooseType(CsvRole role, const DataField& wanted, DataField& field);
  void PrepareCategories(size_t column, const DataField* wanted);
  void PrepareLabels(const std::vector<size_t>& labels);

  const CsvOptions& csv_;
  const DataOptions& options_;
  Diagnostics& diagnostics_;
  const int errors_before_;
  const DataFindings shared_;
  FirstLine first_;
  CsvLayout layout_;
  std::map<std::string_view, Named> by_name_;  // of layout_.names, once one was looked for
  std::vector<DataOption> unknown_;  // columns that the table does not have: ReportUnknown()
};

// Takes the names of the columns. Returns false after an error.
bool LayoutReader::TakeFirstRecord(const CsvReader& reader) {
  size_t integers = 0;
  for (const CsvField& field : reader.fields()) {
    double number = 0.0;
    const bool is_number =
        StoreNumber(field.text, DType::kF64, reinterpret_cast<std::byte*>(&number)) ==
        TextNumber::kStored;
    if (is_number) first_.numbers.push_back(layout_.names.size());
    integers += is_number && ParseInt32(Trimmed(field.text)).value_or(-1) >= 0;
    first_.texts.emplace_back(field.quoted ? field.text : Trimmed(field.text));
    layout_.names.push_back(csv_.header ? first_.texts.back()
                                        : std::to_string(layout_.names.size() + 1));
  }
  // A year or the number of a pixel may be a name, beside others.
  const size_t numbers = first_.numbers.size();
  first_.is_doubtful = csv_.header && (numbers == reader.fields().size() || numbers > integers);
  if (first_.is_doubtful) {
    diagnostics_.Warning(reader.mark(),
                         "the first line is taken for the names of the columns, but holds numbers",
                         "`header: false` says that there are no names");
  }
  return ChooseColumns(reader);
}

LayoutReader::Named LayoutReader::ColumnsNamed(const std::string& name) {
  if (by_name_.empty()) {
    for (size_t column = 0; column < layout_.names.size(); ++column) {
      Named& named = by_name_[layout_.names[column]];
      if (named.count++ == 0) named.first = column;
    }
  }
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? Named() : found->second;
}

// A column by its name or its number.
std::optional<size_t> LayoutReader::FindColumn(const DataOption& name) {
  const auto [first, count] = ColumnsNamed(name.value);
  if (count > 1) {
    diagnostics_.Error(name.mark,
                       std::to_string(count) + " columns are called " + QuotedText(name.value),
                       "a number, from 1, names a column too");
    return std::nullopt;
  }
  if (count == 1) return first;
  const auto columns = static_cast<int64_t>(layout_.names.size());
  const std::optional<int32_t> number = ParseInt32(name.value);
  if (number && *number != 0 && std::abs(int64_t{*number}) <= columns) {
    return static_cast<size_t>(*number > 0 ? *number - 1 : columns + *number);
  }
  if (!number && !Help().OfOneColumn().empty()) {
    unknown_.push_back(name);
    return std::nullopt;
  }
  diagnostics_.Error(name.mark,
                     number ? "there is no column " + name.value + ": the columns are 1 to " +
                                  std::to_string(columns) + ", or -1 for the last"
                            : "'" + path() + "' has no column " + QuotedText(name.value),
                     Help().OfUnknown(name.value));
  return std::nullopt;
}

// If the delimiter seems to make the table a single column, reports all absent columns at once.
void LayoutReader::ReportUnknown() {
  if (unknown_.empty()) return;
  std::vector<std::string> names;
  for (const DataOption& name : unknown_) names.push_back(name.value);
  diagnostics_.Error(unknown_[0].mark,
                     "'" + path() + "' has no " + (names.size() == 1 ? "column " : "columns ") +
                         QuotedNames(names),
                     Help().OfUnknown(names[0]));
}

// The names of the columns that are used: weights keep them, and other tables are read by them.
void LayoutReader::WarnOfNames(const CsvReader& reader) {
  if (!csv_.header) return;
  for (const CsvColumn& used : layout_.used) {
    const CsvField& field = reader.fields()[used.column];
    const std::optional<EncodingFault> fault = FindEncodingFault(field.text);
    if (!fault) continue;
    diagnostics_.Warning(reader.MarkOf(field), "the name of this column " + fault->what,
                         fault->help);
    return;
  }
}

// A column without a name that is a feature, since nothing chooses among them: often an index.
void LayoutReader::WarnOfNoName(const CsvReader& reader, const std::vector<size_t>& features) {
  if (!csv_.header || !Trains() || FindOption(options_, "columns") != nullptr) return;
  std::vector<size_t> nameless;
  std::ranges::copy_if(features, std::back_inserter(nameless),
                       [&](size_t column) { return layout_.names[column].empty(); });
  if (nameless.empty()) return;
  const int64_t others = std::ssize(nameless) - 1;
  diagnostics_.Warning(
      reader.MarkOf(reader.fields()[nameless[0]]),
      "column " + std::to_string(nameless[0] + 1) + " has no name, and is a feature" +
          (others > 0 ? " (and " + CountText(others, "column") + " more)" : ""),
      "where it only counts the rows, as the index that pandas writes, leave it out: `columns` "
      "lists the others");
}

// Warns of features with the same name, since nothing chooses among them: the second may be a copy
// or a mistake. Only training data are checked, as other data have the same columns.
void LayoutReader::WarnOfSameNames(const CsvReader& reader, const std::vector<size_t>& features) {
  if (!csv_.header || !Trains() || FindOption(options_, "columns") != nullptr) return;
  std::map<std::string_view, size_t> before;
  for (const size_t column : features) {
    const std::string& name = layout_.names[column];
    const auto [first, is_new] = before.emplace(name, column);
    if (is_new || name.empty()) continue;
    diagnostics_.Warning(reader.MarkOf(reader.fields()[column]),
                         "the columns " + std::to_string(first->second + 1) + " and " +
                             std::to_string(column + 1) + " are both called " + QuotedText(name) +
                             ", and both are features",
                         "give each a name of its own, or list those to take, by their numbers: "
                         "`columns: [1, 2]`");
    return;
  }
}

// Reports a column that is to be a feature but is a label.
void LayoutReader::CheckNoLabel(size_t column, const std::set<size_t>& labels,
                                const SourceMark& mark, const std::string& help) {
  if (!labels.contains(column)) return;
  diagnostics_.Error(mark, "column " + layout_.Quoted(column) + " is the label too", help);
}

// Returns the columns of an option, none of which may be among `labels`.
std::vector<size_t> LayoutReader::FindColumns(const std::string& option,
                                              const std::vector<size_t>& labels) {
  const DataOption* names = FindOption(options_, option);
  std::vector<size_t> columns;
  if (names == nullptr) return columns;
  std::set<size_t> seen;
  const std::set<size_t> no_features(labels.begin(), labels.end());
  for (const DataOption& name : ItemsOf(*names)) {
    const std::optional<size_t> column = FindColumn(name);
    if (column && !seen.insert(*column).second) {
      diagnostics_.Error(name.mark, "column '" + name.value + "' stands twice in the list");
    }
    if (!column) continue;
    CheckNoLabel(*column, no_features, name.mark,
                 "leave it out of `" + option + "`: a label is to be predicted from other columns");
    columns.push_back(*column);
  }
  return columns;
}

// Returns the column of `group_by`, which tells the groups apart and is no label.
std::optional<size_t> LayoutReader::FindGroup(const std::vector<size_t>& labels) {
  if (!options_.group_by) return std::nullopt;
  const std::optional<size_t> column = FindColumn(*options_.group_by);
  if (!column) return std::nullopt;
  CheckNoLabel(*column, {labels.begin(), labels.end()}, options_.group_by->mark,
               "each group would have one label: name the column that tells the groups apart");
  return column;
}

bool LayoutReader::ChooseColumns(const CsvReader& reader) {
  const std::vector<size_t> labels = FindColumns("label");
  layout_.group = FindGroup(labels);
  const std::vector<size_t> categories = FindCategories(labels);
  const std::vector<size_t> features = FindFeatures(labels, categories);
  ReportUnknown();
  if (Failed()) return false;
  if (features.empty() && categories.empty()) {
    diagnostics_.Error(reader.mark(), "beside the label there is no column", Help().OfOneColumn());
    return false;
  }
  AddFields(features, categories, labels);
  if (!Failed()) PrepareLabels(labels);
  if (!Failed()) WarnOfNames(reader);
  if (!Failed()) WarnOfSameNames(reader, features);
  if (!Failed()) WarnOfNoName(reader, features);
  return !Failed();
}

// For tables without names, returns whether the labels stand at other places than in the training
// data, where both have some. The numbers of their columns then mean other columns.
bool LayoutReader::HasLabelsElsewhere(const std::vector<size_t>& labels) const {
  const auto known = shared_.names.find(kCsvLabel);
  if (csv_.header || labels.empty() || known == shared_.names.end()) return false;
  std::multiset<std::string> numbers;
  for (const size_t label : labels) numbers.insert(std::to_string(label + 1));
  return numbers != std::multiset<std::string>(known->second.begin(), known->second.end());
}

// Columns that an option of that name lists, as the training data have them, where that is known.
std::vector<size_t> LayoutReader::Ordered(const std::string& option, std::vector<size_t> columns,
                                          const std::vector<size_t>& labels) {
  if (!shared_.names.contains(kCsvColumns) || Failed() || !unknown_.empty()) return columns;
  if (HasLabelsElsewhere(labels)) return columns;
  const auto known = shared_.names.find(option);
  return InTrainingOrder(option, std::move(columns), layout_.names,
                         known == shared_.names.end() ? std::vector<std::string>() : known->second,
                         csv_, options_, diagnostics_);
}

// Returns the columns of the option, else those of the training data.
std::vector<size_t> LayoutReader::FindCategories(const std::vector<size_t>& labels) {
  if (FindOption(options_, kCsvCategories) != nullptr) {
    return Ordered(kCsvCategories, FindColumns(kCsvCategories, labels), labels);
  }
  std::vector<size_t> columns;
  const auto shared = shared_.names.find(kCsvCategories);
  if (shared == shared_.names.end()) return columns;
  for (const std::string& name : shared->second) {
    const auto column = FindColumn({name, FindOption(options_, "file")->mark});
    if (!column) continue;
    CheckNoLabel(*column, {labels.begin(), labels.end()}, options_.mark,
                 "it is a category in the training data");
    columns.push_back(*column);
  }
  return columns;
}

// Returns the columns of the option, else those of the training data, by their names, else all.
std::vector<size_t> LayoutReader::FindFeatures(const std::vector<size_t>& labels,
                                               const std::vector<size_t>& categories) {
  const DataOption* chosen = FindOption(options_, "columns");
  const auto shared = chosen == nullptr ? SharedFeatures() : std::nullopt;
  std::vector<size_t> features = shared ? *shared : FindColumns(kCsvColumns, labels);
  if (!shared && chosen == nullptr) {
    std::set<size_t> left_out(labels.begin(), labels.end());
    if (layout_.group) left_out.insert(*layout_.group);
    for (size_t column = 0; column < layout_.names.size(); ++column) {
      if (!left_out.contains(column)) features.push_back(column);
    }
  }
  const std::set<size_t> others(categories.begin(), categories.end());
  std::erase_if(features, [&](size_t column) { return others.contains(column); });
  return chosen != nullptr ? Ordered(kCsvColumns, std::move(features), labels) : features;
}

// Returns nothing where no columns are known by their names. If the table lacks a known one, that
// is an error, as another column would be taken for it.
std::optional<std::vector<size_t>> LayoutReader::SharedFeatures() {
  const auto shared = shared_.names.find(kCsvColumns);
  if (!csv_.header || shared == shared_.names.end()) return std::nullopt;
  if (AreNumbered(shared->second, layout_.names)) return std::nullopt;  // by their places
  std::vector<size_t> features;
  for (const std::string& name : shared->second) {
    const auto [first, count] = ColumnsNamed(name);
    if (count > 1) return std::nullopt;  // by their places, in every table
    if (count == 1) {
      features.push_back(first);
      continue;
    }
    if (!unknown_.empty()) {  // for the same reason
      unknown_.push_back({name, {}});
      continue;
    }
    diagnostics_.Error(
        FindOption(options_, "file")->mark,
        "'" + path() + "' has no column " + QuotedText(name) + ", which the training data have",
        Help().OfTraining(name));
    return features;
  }
  return features;
}

// Each category is a field of its own, and so is each label, or all labels are one where the model
// has one input for them.
void LayoutReader::AddFields(const std::vector<size_t>& features,
                             const std::vector<size_t>& categories,
                             const std::vector<size_t>& labels) {
  const auto is_input = [&](const std::string& name) {
    return std::ranges::find(options_.fields, name, &DataField::name) != options_.fields.end();
  };
  const auto name_of = [&](const char* role, size_t column) {
    return csv_.header ? layout_.names[column] : role + layout_.names[column];
  };
  std::vector<std::string> names;
  if (!features.empty()) names.emplace_back("features");
  for (const size_t category : categories) names.push_back(name_of("column", category));
  const size_t first_label = names.size();
  const bool together = labels.size() > 1 && options_.fields.size() == first_label + 1;
  const bool by_column = labels.size() == 1 && csv_.header && is_input(layout_.names[labels[0]]);
  if (together || (labels.size() == 1 && !by_column)) {
    names.emplace_back("label");
  } else {
    for (const size_t label : labels) names.push_back(name_of("label", label));
  }
  if (!features.empty()) AddField(CsvRole::kFeature, names, features);
  for (const size_t category : categories) AddField(CsvRole::kCategory, names, {category});
  for (size_t i = first_label; i < names.size(); ++i) {
    AddField(CsvRole::kLabel, names,
             together ? labels : std::vector<size_t>{labels[i - first_label]});
  }
}

// Adds the next of the fields called `names`.
void LayoutReader::AddField(CsvRole role, const std::vector<std::string>& names,
                            const std::vector<size_t>& columns) {
  const size_t index = layout_.fields.size();
  const auto count = static_cast<int64_t>(columns.size());
  const bool is_category = role == CsvRole::kCategory;
  const bool one = role != CsvRole::kFeature && count == 1;
  DataField field{names[index], is_category ? DType::kI32 : DType::kF32,
                  one ? Shape() : Shape{count}};
  const DataField* wanted = WantedField(options_, names, index);
  if (wanted != nullptr) {
    if (wanted->shape.Elements() == count) field.shape = wanted->shape;
    ChooseType(role, *wanted, field);
  }
  if (is_category) PrepareCategories(columns[0], wanted);
  for (size_t i = 0; i < columns.size(); ++i) {
    layout_.used.push_back(
        {role, columns[i], index, static_cast<int64_t>(i) * SizeOf(field.dtype)});
  }
  layout_.fields.push_back(std::move(field));
}

// Gives the field the type of its input. If a category has a type that none can have, it is refused
// where fields are matched with inputs.
void LayoutReader::ChooseType(CsvRole role, const DataField& wanted, DataField& field) {
  if (role == CsvRole::kCategory) {
    if (wanted.dtype == DType::kI64) field.dtype = DType::kI64;
    return;
  }
  field.dtype = wanted.dtype;
  if (std::ranges::find(kTypes, field.dtype) == std::end(kTypes)) {
    diagnostics_.Error(MarkOfField(options_, wanted.name, FindOption(options_, "file")->mark),
                       "input '" + wanted.name + "' is " + std::string(Name(field.dtype)) +
                           ", which csv data cannot be",
                       "known: f32, f64, int32, int64, uint8");
  }
  const bool with_mean = csv_.missing == CsvMissing::kMean || csv_.standardize;
  if (role != CsvRole::kFeature || !with_mean || IsFloat(field.dtype)) return;
  const bool fills = csv_.missing == CsvMissing::kMean;
  const DataOption* option = FindOption(options_, fills ? "missing" : "standardize");
  diagnostics_.Error(option != nullptr ? option->mark : options_.mark,
                     std::string(fills ? "a mean" : "a standardized number") +
                         " is no integer, and input '" + wanted.name + "' is " +
                         std::string(Name(field.dtype)),
                     "an input of f32 takes it");
}

// Takes the categories of the input's option, else of the training data; else they are found later.
void LayoutReader::PrepareCategories(size_t column, const DataField* wanted) {
  const std::string& name = layout_.names[column];
  const auto shared = shared_.names.find(CategoriesKey(name));
  const bool known = shared != shared_.names.end();
  const DataOption* list = wanted != nullptr ? CategoryList(options_, wanted->name) : nullptr;
  Categories& categories = layout_.categories[column];
  if (list == nullptr) {
    if (known) categories = Categories(shared->second);
    return;
  }
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const DataOption& item : ItemsOf(*list)) {
    if (!seen.insert(item.value).second) {
      diagnostics_.Error(item.mark, "category '" + item.value + "' stands twice in the list");
    }
    names.push_back(item.value);
  }
  if (known && shared->second != names) {
    diagnostics_.Error(list->mark,
                       "the categories of " + layout_.Quoted(column) + " are others in the " +
                           (options_.kept != nullptr ? "weights" : "training data"),
                       "leave the list out: they are known");
  }
  categories = Categories(std::move(names));
}

void LayoutReader::PrepareLabels(const std::vector<size_t>& labels) {
  const DataOption* classes = FindOption(options_, "classes");
  for (const CsvColumn& used : layout_.used) {
    if (used.role != CsvRole::kLabel) continue;
    if (layout_.fields[used.field].dtype != DType::kI32) continue;
    std::optional<ClassTable> known =
        KnownClasses(options_, layout_.fields[used.field].name, diagnostics_);
    if (!known) known.emplace();  // this is reported
    layout_.labels[used.column] = LabelTexts(*std::move(known), options_.train == nullptr,
                                             "a label that is a measure wants an input of f32" +
                                                 AsFractions(layout_, options_, used.field));
  }
  if (classes == nullptr || (labels.size() == 1 && layout_.labels.size() == 1)) return;
  diagnostics_.Error(classes->mark, labels.empty() ? "there are classes, but no 'label'"
                                    : labels.size() == 1
                                        ? "there are classes, but the label's input is not int32"
                                        : "several labels cannot share one list of classes");
}

}  // namespace

std::string CsvLayout::Quoted(size_t column) const { return QuotedText(names[column]); }

std::vector<std::string> CsvLayout::NamesOf(CsvRole role) const {
  std::vector<std::string> of_role;
  for (const CsvColumn& column : used) {
    if (column.role == role) of_role.push_back(names[column.column]);
  }
  return of_role;
}

std::optional<CsvLayout> ReadCsvLayout(const CsvOptions& csv, const DataOptions& options,
                                       const CsvReader& first, Diagnostics& diagnostics) {
  return LayoutReader(csv, options, diagnostics).Read(first);
}

}  // namespace cgrun
