// Tables as data sets, for tests of CSV.
#ifndef CGRUN_TESTS_DATA_CSV_TESTING_H_
#define CGRUN_TESTS_DATA_CSV_TESTING_H_

#include <string>
#include <string_view>

#include "tests/data/dataset_testing.h"

namespace cgrun {

// A table with f32 features.
class CsvBuilder : public DatasetBuilder {
 public:
  explicit CsvBuilder(std::string_view text, int64_t features = 2) : DatasetBuilder("csv") {
    File("t.csv", text);
    Set("file", "t.csv");
    Input("features", DType::kF32, {features});
  }
};

// The errors of a table whose label is a column of it.
inline std::string ErrorsOf(std::string_view text, const std::string& label = "y",
                            DType dtype = DType::kF32) {
  return CsvBuilder(text).Label(label, dtype).Open().errors;
}

}  // namespace cgrun

#endif  // CGRUN_TESTS_DATA_CSV_TESTING_H_
