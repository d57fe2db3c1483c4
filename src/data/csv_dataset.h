// The values of a CSV file as a data set, which knows where its integers stand.
#ifndef CGRUN_DATA_CSV_DATASET_H_
#define CGRUN_DATA_CSV_DATASET_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/data/csv_reader.h"
#include "src/data/dataset.h"
#include "src/data/tensor_dataset.h"

namespace cgrun {

// Records the lines of a table that have integers: classes, categories and ids, which may be wrong
// for the model that reads them.
struct IntegerLines {
  CsvDelimiter delimiter;
  SampleStore lines;                              // an int32 a sample; none where all are floats
  std::map<size_t, std::vector<size_t>> columns;  // by field: of its elements

  bool any() const { return !columns.empty(); }
  // Returns the bytes that the lines of `samples` samples take.
  static int64_t Bytes(int64_t samples) { return samples * int64_t{sizeof(int32_t)}; }
};

// Holds also the findings about training data.
class CsvDataset : public TensorDataset {
 public:
  // `notes` are those of Dataset::Notes(). `scratch_bytes`: what reading took beside the samples.
  CsvDataset(std::vector<FieldSamples> parts, DataFindings findings, IntegerLines integers,
             std::vector<std::string> notes, int64_t scratch_bytes);

  DataFindings Findings() const override { return findings_; }
  int64_t decoded_bytes() const override;
  int64_t opening_bytes() const override { return decoded_bytes() + scratch_bytes_; }
  int64_t streamable_bytes() const override { return decoded_bytes(); }
  SamplePlace PlaceOf(size_t index, int64_t sample, std::optional<int64_t> value) const override;

 private:
  SamplePlace PlaceOfElement(size_t index, int64_t sample, size_t element, std::string* text) const;

  DataFindings findings_;
  IntegerLines integers_;
  int64_t scratch_bytes_;
};

}  // namespace cgrun

#endif  // CGRUN_DATA_CSV_DATASET_H_
