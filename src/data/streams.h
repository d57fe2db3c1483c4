// Streams: the order for recurrent models, in which the rows of a batch continue each other.
#ifndef CGRUN_DATA_STREAMS_H_
#define CGRUN_DATA_STREAMS_H_

#include <cstdint>
#include <memory>

#include "src/data/dataset.h"

namespace cgrun {

// Walks through `streams` parts of a data set side by side. The parts have equal length, and sample
// t·streams + i is the t-th of part i. In batches of `streams` samples, in order, row i of a batch
// goes on where row i of the batch before ended. There are only whole batches: the rest at the end
// of the base is left out.
class Streams : public Dataset {
 public:
  // `base` has a sample for each stream at least.
  Streams(std::shared_ptr<const Dataset> base, int64_t streams);

  int64_t size() const override { return streams_ * length_; }
  // Samples of the base that fill no batch.
  int64_t left_out() const { return base_->size() - size(); }
  const std::vector<DataField>& fields() const override { return base_->fields(); }
  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override;
  void ReadField(size_t index, int64_t first, std::span<std::byte> out) const override;
  // The base is counted by its owner.
  int64_t decoded_bytes() const override { return 0; }
  std::span<const std::string> ClassNames(size_t index) const override {
    return base_->ClassNames(index);
  }
  DataFindings Findings() const override { return base_->Findings(); }
  std::vector<std::string> Notes() const override { return base_->Notes(); }
  const Dataset& whole() const override { return base_->whole(); }
  SamplePlace PlaceOf(size_t index, int64_t sample, std::optional<int64_t> value) const override {
    return base_->PlaceOf(index, InBase(sample), value);
  }

 private:
  int64_t InBase(int64_t sample) const { return sample % streams_ * length_ + sample / streams_; }

  std::shared_ptr<const Dataset> base_;
  int64_t streams_;
  int64_t length_;  // of a stream, in samples
};

}  // namespace cgrun

#endif  // CGRUN_DATA_STREAMS_H_
