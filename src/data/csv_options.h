// How a CSV file is read, but for what its columns are: ReadCsvOptions() is the entry point.
#ifndef CGRUN_DATA_CSV_OPTIONS_H_
#define CGRUN_DATA_CSV_OPTIONS_H_

#include <optional>
#include <string>

#include "src/data/dataset.h"

namespace cgrun {

enum class CsvMissing {
  kError,
  kMean,
  kNumber,
  kDrop  // the row is left out
};

struct CsvOptions {
  bool header = true;
  char delimiter = ',';
  CsvMissing missing = CsvMissing::kError;
  std::string filler;  // the number for what is missing
  bool standardize = false;
};

// What findings of tables hold: names of the columns of features and of categories, the categories
// of a column, and for each column of features its mean and its deviation.
inline constexpr char kCsvColumns[] = "columns", kCsvCategories[] = "categories",
                      kCsvMean[] = "mean", kCsvDeviation[] = "deviation";
std::string CategoriesKey(const std::string& column);

// Nothing after an error.
std::optional<CsvOptions> ReadCsvOptions(const DataOptions& options, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_DATA_CSV_OPTIONS_H_
