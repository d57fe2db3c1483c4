// A data set that was decoded once: a tensor a field, read by copying.
#ifndef CGRUN_DATA_TENSOR_DATASET_H_
#define CGRUN_DATA_TENSOR_DATASET_H_

#include <string>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/data/dataset.h"

namespace cgrun {

// One field of all samples.
struct FieldTensor {
  std::string name;
  HostTensor tensor;                      // samples first
  std::string file;                       // that it was read from
  SourceMark mark;                        // where the user names the file
  std::vector<std::string> classes = {};  // of labels that were names
};

class TensorDataset : public Dataset {
 public:
  // `parts` have the same number of samples.
  explicit TensorDataset(std::vector<FieldTensor> parts);

  int64_t size() const override { return parts_[0].tensor.shape()[0].size; }
  const std::vector<DataField>& fields() const override { return fields_; }
  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override;
  int64_t decoded_bytes() const override;
  std::span<const std::string> ClassNames(size_t index) const override;
  void Visit(size_t index, IntegerVisitor& visitor) const override;
  SamplePlace PlaceOf(size_t index, int64_t sample) const override;
  std::optional<NotFiniteNumbers> FindNotFinite(size_t index) const override;
  std::optional<NumbersOutside> FindOutside(size_t index, double least, double most) const override;

 protected:
  const FieldTensor& part(size_t index) const { return parts_[index]; }

 private:
  // Of a field with elements of type T.
  template <class T>
  void VisitAs(size_t index, IntegerVisitor& visitor) const;

  std::vector<FieldTensor> parts_;
  std::vector<DataField> fields_;
};

}  // namespace cgrun

#endif  // CGRUN_DATA_TENSOR_DATASET_H_
