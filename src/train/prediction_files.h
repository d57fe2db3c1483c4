// The raw outputs of predictions as NumPy arrays.
#ifndef CGRUN_TRAIN_PREDICTION_FILES_H_
#define CGRUN_TRAIN_PREDICTION_FILES_H_

#include <string>
#include <vector>

#include "src/train/predict.h"

namespace cgrun {

class PredictionFiles {
 public:
  // Makes `folder`, which takes OUTPUT.npy for each output. InputError where that would write over
  // one of `inputs` or over a file that is no array, or where `folder` is a file.
  PredictionFiles(const std::string& folder, const PredictSignature& signature,
                  const std::vector<std::string>& inputs);

  // Keeps the outputs of the next sample.
  void Add(PredictionBytes outputs);
  // Writes all files, [samples, …] each. Throws UserError.
  void Write() const;

 private:
  struct File {
    std::string path;
    DType dtype = DType::kF32;
    Shape sample;
    std::vector<std::byte> bytes = {};
  };
  std::vector<File> files_;
  int64_t samples_ = 0;
};

}  // namespace cgrun

#endif  // CGRUN_TRAIN_PREDICTION_FILES_H_
