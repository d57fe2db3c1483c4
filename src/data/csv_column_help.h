// ColumnHelp says what to do about columns that a table does not have, by its first line.
#ifndef CGRUN_DATA_CSV_COLUMN_HELP_H_
#define CGRUN_DATA_CSV_COLUMN_HELP_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "src/data/csv_options.h"
#include "src/data/dataset.h"

namespace cgrun {

// The first line of a table, whatever it is taken for.
struct FirstLine {
  std::vector<std::string> texts;  // by column
  std::vector<size_t> numbers;     // the columns whose text is one
  bool is_doubtful = false;        // taken for names, it seems to hold none
};

class ColumnHelp {
 public:
  // All outlive this. `shared`: what other data of the model were read by. `names`: of the columns;
  // from "1" without a header.
  ColumnHelp(const CsvOptions& csv, const DataOptions& options, const DataFindings& shared,
             const std::vector<std::string>& names, const FirstLine& first)
      : csv_(csv), options_(options), shared_(shared), names_(names), first_(first) {}

  // The help for a single column in which another delimiter stands; "" for others.
  std::string OfOneColumn() const;
  // The help for a name that no column has.
  std::string OfUnknown(const std::string& wanted) const;
  // The help for a column of the training data that this table does not have.
  std::string OfTraining(const std::string& wanted) const;

 private:
  bool Predicts() const { return options_.to_predict && !options_.predicted_as.empty(); }
  std::string OfHeader(bool seems_values) const;
  std::string HeaderToPredict() const;
  std::string OfNumbered(const std::string& wanted) const;
  std::string OfEncoding(std::string_view wanted) const;
  std::vector<std::string> PrintableNames() const;

  const CsvOptions& csv_;
  const DataOptions& options_;
  const DataFindings& shared_;
  const std::vector<std::string>& names_;
  const FirstLine& first_;
};

}  // namespace cgrun

#endif  // CGRUN_DATA_CSV_COLUMN_HELP_H_
