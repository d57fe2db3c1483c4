// What the columns of a CSV file are for: ReadCsvOptions() and ReadCsvLayout() are the entry
// points.
#ifndef CGRUN_DATA_CSV_LAYOUT_H_
#define CGRUN_DATA_CSV_LAYOUT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/data/classes.h"
#include "src/data/csv_reader.h"
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
};

// One column that is used.
struct CsvColumn {
  size_t column;  // from 0
  size_t field;
  int64_t offset;  // bytes in a sample of the field
};

struct CsvLayout {
  std::vector<std::string> names;       // of the columns; from "1" without a header
  std::vector<DataField> fields;        // features first
  std::vector<CsvColumn> used;          // in the order of fields
  std::map<size_t, LabelTexts> labels;  // by column, those of int32
};

// Nothing after an error.
std::optional<CsvOptions> ReadCsvOptions(const DataOptions& options, Diagnostics& diagnostics);

// The layout of a file by its first record. Nothing after an error: a column that is not there, a
// label among the features, an input of a type that no text becomes.
std::optional<CsvLayout> ReadCsvLayout(const CsvOptions& csv, const DataOptions& options,
                                       const CsvReader& first, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_DATA_CSV_LAYOUT_H_
