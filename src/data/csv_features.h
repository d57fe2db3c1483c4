// Reads the columns of features with the findings of the training data. Means fill gaps. Means and
// deviations standardize.
#ifndef CGRUN_DATA_CSV_FEATURES_H_
#define CGRUN_DATA_CSV_FEATURES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/data/column_moments.h"
#include "src/data/csv_layout.h"
#include "src/data/csv_options.h"
#include "src/data/dataset.h"

namespace cgrun {

// Finds out means and deviations, or takes those that other tables or the weights have. The order
// is: Prepare(), Add() each number, Finish().
class CsvFeatures {
 public:
  // Both outlive this.
  CsvFeatures(const DataOptions& options, Diagnostics& diagnostics);

  void Prepare(const CsvLayout& layout, int64_t rows);
  // A number of row `row` that is stored in `value`; not for gaps.
  void Add(int64_t row, const CsvColumn& used, const std::byte* value);
  // Fills gaps, which are NaN, and standardizes, as the options say. `path` is the file's. Errors:
  // a column without a value where its mean is needed, and training data that are no table.
  void Finish(const CsvOptions& csv, const CsvLayout& layout, const std::string& path,
              std::span<std::byte> features);

  DataFindings Findings(const CsvOptions& csv, const CsvLayout& layout) const;

 private:
  bool own() const { return !known_ && options_.train == nullptr; }
  std::vector<double> Shared(const char* key) const;
  void ReportNoMean(const std::string& path, const std::string& column);

  const DataOptions& options_;
  Diagnostics& diagnostics_;
  const DataFindings shared_;
  const bool known_;  // whether others say what these are read by
  DType dtype_ = DType::kF32;
  ColumnMoments moments_;       // of rows that are not split away
  std::vector<bool> held_out_;  // by row; none where nothing is found out
};

}  // namespace cgrun

#endif  // CGRUN_DATA_CSV_FEATURES_H_
