// Makes random inputs for a model that has no data: how long its inference takes does not depend on
// them.
#ifndef CGRUN_BENCH_RANDOM_SAMPLES_H_
#define CGRUN_BENCH_RANDOM_SAMPLES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/data/dataset.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Returns random elements of the shape that the file gives an input: floats in [0, 1), bytes, and
// 0 or 1 for other integers, so that they can be ids.
HostTensor RandomElements(const InputSpec& input);

// One sample, whose fields are the inputs that have a batch.
class RandomSamples : public Dataset {
 public:
  explicit RandomSamples(const ModelSpec& model);

  int64_t size() const override { return 1; }
  const std::vector<DataField>& fields() const override { return fields_; }
  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override;
  int64_t decoded_bytes() const override;

 private:
  std::vector<DataField> fields_;
  std::vector<HostTensor> elements_;  // of the fields
};

}  // namespace cgrun

#endif  // CGRUN_BENCH_RANDOM_SAMPLES_H_
