// A data set that was decoded once: a store a field, read by copying.
#ifndef CGRUN_DATA_TENSOR_DATASET_H_
#define CGRUN_DATA_TENSOR_DATASET_H_

#include <string>
#include <vector>

#include "src/data/dataset.h"
#include "src/data/sample_store.h"

namespace cgrun {

// One field of all samples, one after another.
struct FieldSamples {
  DataField field;
  SampleStore store;
  std::string file;                       // that it was read from
  SourceMark mark;                        // the place where the user names the file
  std::vector<std::string> classes = {};  // of labels that were names

  int64_t count() const { return store.bytes() / field.bytes(); }
};

class TensorDataset : public Dataset {
 public:
  // `parts` have the same number of samples, and are written. `notes`: what became of their files.
  explicit TensorDataset(std::vector<FieldSamples> parts, std::vector<std::string> notes = {});

  int64_t size() const override { return parts_[0].count(); }
  const std::vector<DataField>& fields() const override { return fields_; }
  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override;
  int64_t decoded_bytes() const override;
  int64_t streamable_bytes() const override { return TensorDataset::decoded_bytes(); }
  bool AtHand(size_t /*index*/) const override { return true; }
  void ReadField(size_t index, int64_t first, std::span<std::byte> out) const override;
  std::vector<std::string> Notes() const override { return notes_; }
  std::span<const std::string> ClassNames(size_t index) const override;
  SamplePlace PlaceOf(size_t index, int64_t sample, std::optional<int64_t> value) const override;

 protected:
  const FieldSamples& part(size_t index) const { return parts_[index]; }

 private:
  std::vector<FieldSamples> parts_;
  std::vector<DataField> fields_;
  std::vector<std::string> notes_;
};

}  // namespace cgrun

#endif  // CGRUN_DATA_TENSOR_DATASET_H_
