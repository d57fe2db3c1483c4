// Opening data sets in tests: options as text, files in a folder of their own, samples as values.
#ifndef CGRUN_TESTS_DATA_DATASET_TESTING_H_
#define CGRUN_TESTS_DATA_DATASET_TESTING_H_

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/data/dataset.h"
#include "tests/io/test_files.h"

namespace cgrun {

// Holds the data set that was opened, or its errors.
struct Opened {
  std::unique_ptr<Dataset> dataset;
  std::string errors;  // with DIR for the folder
};

// The options of one data set. A value that begins with '[' is a list: "[a, b]".
class DatasetBuilder {
 public:
  explicit DatasetBuilder(std::string format) : format_(std::move(format)) {}

  DatasetBuilder& File(const std::string& name, std::string_view bytes);
  DatasetBuilder& Set(const std::string& name, const std::string& value);
  DatasetBuilder& Input(const std::string& name, DType dtype, Shape shape);
  // An option `label`, and an input that takes it.
  DatasetBuilder& Label(const std::string& value, DType dtype, Shape shape = {}) {
    return Set("label", value).Input("label", dtype, std::move(shape));
  }
  DatasetBuilder& Limit(int64_t bytes);
  // Bytes that are left of a cap on the run.
  DatasetBuilder& Limit(int64_t bytes, int64_t cap);
  // Samples that take more than `most_in_memory` lie in files, those without a name in `folder`, by
  // default in that of the data.
  DatasetBuilder& Stream(int64_t most_in_memory = 0, const std::string& folder = "");
  DatasetBuilder& Train(const Dataset& train);
  // Sets the findings that the weights keep. They must outlive this.
  DatasetBuilder& Kept(const DataFindings& kept);
  DatasetBuilder& Split(double fraction, uint64_t seed);

  const std::string& folder() const { return files_.path(); }
  Opened Open() const;

 private:
  std::string format_;
  TempFolder files_;
  DataOptions options_;
};

// The bytes of one sample, a string a field.
std::vector<std::string> ReadSample(const Dataset& dataset, int64_t index);

// Field `field` of sample `index`.
template <class T>
std::vector<T> ReadField(const Dataset& dataset, int64_t index, size_t field) {
  const std::string bytes = ReadSample(dataset, index)[field];
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// The smallest and the largest integer of a field, the first of each, and where they stand.
struct FieldRange {
  struct Extreme {
    int64_t value = 0;
    int64_t sample = 0;  // as its file counts
    std::string file;
    SourceMark mark;
  };
  Extreme smallest, largest;
};

// Returns nothing where VisitIntegers() shows none.
std::optional<FieldRange> RangeOf(const Dataset& dataset, size_t field);

}  // namespace cgrun

#endif  // CGRUN_TESTS_DATA_DATASET_TESTING_H_
