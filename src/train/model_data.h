// The data of a model: its sets, opened and matched with the model's inputs.
#ifndef CGRUN_TRAIN_MODEL_DATA_H_
#define CGRUN_TRAIN_MODEL_DATA_H_

#include <memory>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/data/dataset.h"
#include "src/data/loader.h"
#include "src/model/model_spec.h"

namespace cgrun {

struct ModelData {
  std::shared_ptr<const Dataset> train;  // null where the file has none
  std::shared_ptr<const Dataset> valid;
  std::shared_ptr<const Dataset> test;
  int64_t decoded_bytes = 0;  // host memory of all of them
};

// Opens the sets that the model names; checks that they have what its inputs want (by name, or in the
// same order where no name fits) and that labels are in range of nothing yet known. Errors go to
// `diagnostics`.
ModelData OpenModelData(const ModelSpec& model, Diagnostics& diagnostics);

// For each field of `dataset`, the name of the input that takes it. Empty after an error.
std::vector<std::string> MatchInputs(const ModelSpec& model, const Dataset& dataset,
                                     const SourceMark& mark, Diagnostics& diagnostics);

// A loader with the ring that it reads into.
class DataSource {
 public:
  DataSource(const Dataset& dataset, const LoaderOptions& options);

  Loader& loader() { return *loader_; }
  int64_t samples() const { return samples_; }
  // Host memory of the ring and the order.
  int64_t bytes() const { return ring_bytes_ + loader_->order_bytes(); }

 private:
  struct Unmap {
    int64_t bytes;
    void operator()(std::byte* memory) const;
  };
  int64_t samples_;
  int64_t ring_bytes_;
  std::unique_ptr<std::byte, Unmap> ring_;
  std::unique_ptr<Loader> loader_;
};

}  // namespace cgrun

#endif  // CGRUN_TRAIN_MODEL_DATA_H_
