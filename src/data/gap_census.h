// Lines of a table that are left out for a gap, and gaps that are filled: counted, to be told.
#ifndef CGRUN_DATA_GAP_CENSUS_H_
#define CGRUN_DATA_GAP_CENSUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/data/csv_options.h"

namespace cgrun {

class GapCensus {
 public:
  // A pass over the file begins, which may count anew.
  void Restart() { *this = GapCensus(); }
  // The record that begins on `line` is left out.
  void Drop(int line);
  // These count a gap among the features, and one among the categories.
  void FillFeature() { ++features_; }
  void FillCategory() { ++categories_; }

  int64_t dropped() const { return dropped_; }

  // A line for each that there is: "'a.csv': 5 of its 200 rows are left out, for a feature or a
  // label that is missing: lines 32, 42, 50, …". `kept` rows are not left out.
  std::vector<std::string> Texts(const std::string& path, const CsvOptions& csv,
                                 int64_t kept) const;

 private:
  int64_t dropped_ = 0, features_ = 0, categories_ = 0;
  std::vector<int> first_;  // lines that are left out
};

}  // namespace cgrun

#endif  // CGRUN_DATA_GAP_CENSUS_H_
