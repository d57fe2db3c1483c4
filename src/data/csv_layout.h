// Decides the roles of the columns of a CSV file: ReadCsvLayout() is the entry point.
#ifndef CGRUN_DATA_CSV_LAYOUT_H_
#define CGRUN_DATA_CSV_LAYOUT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/data/categories.h"
#include "src/data/classes.h"
#include "src/data/csv_options.h"
#include "src/data/csv_reader.h"
#include "src/data/dataset.h"

namespace cgrun {

enum class CsvRole { kFeature, kCategory, kLabel };

// One column that is used.
struct CsvColumn {
  CsvRole role;
  size_t column;  // from 0
  size_t field;
  int64_t offset;  // bytes in a sample of the field
};

struct CsvLayout {
  std::vector<std::string> names;       // of the columns; from "1" without a header
  std::vector<DataField> fields;        // features, if any, then categories and labels
  std::vector<CsvColumn> used;          // in the order of fields
  std::map<size_t, LabelTexts> labels;  // by column, those of int32
  std::map<size_t, Categories> categories;
  std::optional<size_t> group;  // the column of DataOptions::group_by

  // The name of a column in a message, in quotes: it may hold anything, line ends too.
  std::string Quoted(size_t column) const;
  // Returns the names of the columns of a role, in the order of fields.
  std::vector<std::string> NamesOf(CsvRole role) const;
};

// The layout of a file by its first record. Returns nothing after an error: a column that is not
// there, a label among the features, an input of a type that no text becomes.
std::optional<CsvLayout> ReadCsvLayout(const CsvOptions& csv, const DataOptions& options,
                                       const CsvReader& first, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_DATA_CSV_LAYOUT_H_
