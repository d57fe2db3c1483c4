// This file reads the values of options one by one.
#include "src/data/csv_options.h"

#include <algorithm>
#include <iterator>

#include "src/data/options.h"
#include "src/data/text_number.h"

namespace cgrun {
namespace {

bool IsTab(const DataOption& option) { return option.value == "tab" || option.value == "\\t"; }

// Takes only a value that CheckMissing() accepts.
CsvMissing MissingOf(const DataOption& option) {
  return option.value == "error"  ? CsvMissing::kError
         : option.value == "mean" ? CsvMissing::kMean
         : option.value == "drop" ? CsvMissing::kDrop
                                  : CsvMissing::kNumber;
}

std::string FillerOf(const DataOption& option) {
  return option.value == "zero" ? "0" : option.value;
}

void ReadDelimiter(const DataOptions& options, CsvOptions& csv, Diagnostics& diagnostics) {
  const DataOption* option = FindOption(options, "delimiter");
  if (option == nullptr) return;
  CheckDelimiter(*option, diagnostics);
  if (option->value.empty()) return;
  csv.delimiter = {IsTab(*option) ? '\t' : option->value[0], /*given=*/true};
}

void ReadMissing(const DataOptions& options, CsvOptions& csv, Diagnostics& diagnostics) {
  const DataOption* option = FindOption(options, "missing");
  if (option == nullptr) return;
  CheckMissing(*option, diagnostics);
  csv.missing = MissingOf(*option);
  csv.filler = FillerOf(*option);
}

// Standardizes as the training data are, where that is known. Numbers unlike those that were
// learned from would silently give wrong results.
void ReadStandardize(const DataOptions& options, CsvOptions& csv, Diagnostics& diagnostics) {
  const DataFindings shared = SharedFindings(options);
  const bool known = shared.names.contains(kCsvColumns);
  const bool standardized = shared.numbers.contains(kCsvDeviation);
  csv.standardize =
      BooleanOption(options, "standardize", standardized, diagnostics).value_or(standardized);
  if (!known || csv.standardize == standardized) return;
  diagnostics.Error(FindOption(options, "standardize")->mark,
                    std::string("the training data are ") + (standardized ? "" : "not ") +
                        "standardized, and other data are read as they were",
                    "leave `standardize` out");
}

}  // namespace

void CheckDelimiter(const DataOption& option, Diagnostics& diagnostics) {
  const bool bad = option.value.size() != 1 ||
                   std::string_view("\"\r\n").find(option.value[0]) != std::string_view::npos;
  if (IsTab(option) || !bad) return;
  ReportOption(option,
               "option 'delimiter' is '" + option.value + "', but must be one character, or `tab`",
               "", diagnostics);
}

void CheckMissing(const DataOption& option, Diagnostics& diagnostics) {
  if (MissingOf(option) != CsvMissing::kNumber || IsFiniteNumber(FillerOf(option))) return;
  ReportOption(option,
               "option 'missing' is '" + option.value +
                   "', but must be `error`, `drop`, `zero`, `mean` or a number",
               HasDecimalComma(option.value) ? "a fraction is written with a point, as 2.5" : "",
               diagnostics);
}

std::string CategoriesKey(const std::string& column) { return "categories." + column; }

const DataOption* CategoryList(const DataOptions& options, std::string_view input) {
  const bool of_tables =
      std::ranges::find(kCsvOptions, input, &DataOptionSpec::name) != std::end(kCsvOptions);
  return of_tables ? nullptr : FindOption(options, input);
}

bool CheckCategoryLists(const DataOptions& options, Diagnostics& diagnostics) {
  const int errors = diagnostics.error_count();
  if (FindOption(options, "categories") != nullptr) return true;
  for (const DataField& field : options.fields) {
    const DataOption* list = CategoryList(options, field.name);
    if (list == nullptr) continue;
    diagnostics.Error(list->mark, "'" + field.name + "' lists categories, but no column has any",
                      "`categories: [" + field.name + "]` says that its texts are categories");
  }
  return diagnostics.error_count() == errors;
}

std::optional<CsvOptions> ReadCsvOptions(const DataOptions& options, Diagnostics& diagnostics) {
  const int errors = diagnostics.error_count();
  CsvOptions csv;
  csv.header = BooleanOption(options, "header", true, diagnostics).value_or(true);
  ReadDelimiter(options, csv, diagnostics);
  ReadMissing(options, csv, diagnostics);
  csv.drop_unlabelled =
      ChoiceOption(options, "missing_label", kMissingLabel, 0, diagnostics).value_or(0) == 1;
  ReadStandardize(options, csv, diagnostics);
  if (diagnostics.error_count() > errors) return std::nullopt;
  return csv;
}

}  // namespace cgrun
