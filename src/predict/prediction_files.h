// Writes the raw outputs of predictions as NumPy arrays.
#ifndef CGRUN_PREDICT_PREDICTION_FILES_H_
#define CGRUN_PREDICT_PREDICTION_FILES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/io/npy_file.h"
#include "src/predict/predict.h"

namespace cgrun {

class PredictionFiles {
 public:
  // Makes `folder`, which takes OUTPUT.npy for each output, of `most` samples at the most.
  // InputError where that would write over one of `inputs` or over a file that is no array, or
  // where `folder` is a file.
  PredictionFiles(const std::string& folder, const PredictSignature& signature,
                  const std::vector<std::string>& inputs, int64_t most);

  // Writes the outputs of the next sample, to files that have other names until they are whole.
  void Add(PredictionBytes outputs);
  // Gives the files their names: [samples, …] each, or the whole output that samples share. Throws
  // UserError, as the others do.
  void Commit();

 private:
  // An output that samples share, and the bytes of the first one.
  struct Whole {
    std::string path;
    HostTensor tensor;
    bool is_set = false;
  };

  std::vector<std::unique_ptr<NpyWriter>> files_;  // of each output; null for whole ones
  std::vector<Whole> whole_;                       // of each output; used of whole ones
};

}  // namespace cgrun

#endif  // CGRUN_PREDICT_PREDICTION_FILES_H_
