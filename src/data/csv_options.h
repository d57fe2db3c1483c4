// Reads how a CSV file is to be read, but for the roles of its columns: ReadCsvOptions() is the
// entry point.
#ifndef CGRUN_DATA_CSV_OPTIONS_H_
#define CGRUN_DATA_CSV_OPTIONS_H_

#include <optional>
#include <string>
#include <string_view>

#include "src/data/csv_reader.h"
#include "src/data/dataset.h"
#include "src/data/options.h"

namespace cgrun {

enum class CsvMissing {
  kError,
  kMean,
  kNumber,
  kDrop  // the row is left out
};

struct CsvOptions {
  bool header = true;
  CsvDelimiter delimiter;
  CsvMissing missing = CsvMissing::kError;
  std::string filler;            // the number for what is missing
  bool drop_unlabelled = false;  // rows without a label are left out, whatever `missing` is
  bool standardize = false;
};

// These are the keys of the findings about a table: the names of its feature and category columns,
// and the categories of a column. Each feature column has its mean and its deviation. A table
// without a header also has the numbers of its labels.
inline constexpr char kCsvColumns[] = "columns", kCsvCategories[] = "categories",
                      kCsvLabel[] = "label", kCsvMean[] = "mean", kCsvDeviation[] = "deviation";
std::string CategoriesKey(const std::string& column);

inline constexpr std::string_view kMissingLabel[] = {"error", "drop"};

// Report a value of the option `delimiter`, or `missing`, that cannot be.
void CheckDelimiter(const DataOption& option, Diagnostics& diagnostics);
void CheckMissing(const DataOption& option, Diagnostics& diagnostics);

inline constexpr DataOptionSpec kCsvOptions[] = {
    {"file", true, "the file, plain or compressed by gzip"},
    {"label",
     false,
     "the column of the label, or a list of columns: names, or numbers from 1; -1 is the last. "
     "Without it there are features alone",
     {.list = true}},
    {"columns",
     false,
     "the columns of the features, in this order; default all but the label, in the file's order",
     {.list = true}},
    {"header",
     false,
     "whether the first line names the columns; default true",
     {.choices = kTrueFalse}},
    {"delimiter",
     false,
     "the character between two fields, or `tab`; default a comma",
     {.check = CheckDelimiter}},
    {"missing",
     false,
     "what stands for a feature that is empty, `NA`, `NaN` or `?`: `zero`, a number, or `mean` (of "
     "the column in the training data); `drop` leaves such lines out, and those without a label; "
     "`error` is the default",
     {.check = CheckMissing}},
    {"missing_label",
     false,
     "what becomes of a line without a label: `drop` leaves it out, whatever `missing` does with "
     "features; `error` is the default",
     {.choices = kMissingLabel}},
    {"classes",
     false,
     "the names of labels that are texts: the first is label 0. Default: those of the training "
     "data, sorted",
     {.list = true}},
    {"categories",
     false,
     "columns of texts that are features: each becomes a field called as the column, of ids from "
     "1; 0 is a text that the training data have not. Default: those of the training data",
     {.list = true}},
    {"standardize",
     false,
     "whether each column of features becomes (x - mean) / deviation, those of the training data; "
     "default false, and of other sets as in the training data",
     {.choices = kTrueFalse}}};

// The categories that the option called as input `input` lists; null without it, and where that
// name is an option of tables.
const DataOption* CategoryList(const DataOptions& options, std::string_view input);

// Checks that the options that are called as inputs list the categories of columns. Returns false
// after an error.
bool CheckCategoryLists(const DataOptions& options, Diagnostics& diagnostics);

// Returns nothing after an error.
std::optional<CsvOptions> ReadCsvOptions(const DataOptions& options, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_DATA_CSV_OPTIONS_H_
