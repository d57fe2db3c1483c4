// Weights in files: parameters, statistics and optimizer state of a model as safetensors.
#ifndef CGRUN_TRAIN_WEIGHTS_H_
#define CGRUN_TRAIN_WEIGHTS_H_

#include <string>
#include <vector>

#include "src/io/safetensors.h"
#include "src/train/engine.h"

namespace cgrun {

// Writes all state of a model, again and again, without allocating after its construction.
class CheckpointWriter {
 public:
  explicit CheckpointWriter(const Engine& engine);

  // Host memory of the copies that are written, all state, and of the file's buffer.
  static int64_t HostBytes(int64_t state_bytes);

  // Writes PATH atomically. `step` and `epoch` go into the metadata. Throws UserError.
  void Write(const Engine& engine, std::string_view path, int64_t step, int64_t epoch);

 private:
  SafetensorsWriter writer_;
  std::vector<HostTensor> tensors_;
  std::vector<std::span<const std::byte>> bytes_;
  SafetensorsMetadata metadata_;
};

struct WeightsReport {
  std::vector<std::string> loaded;
  std::vector<std::string> missing;  // parameters and statistics that the file does not have
  std::vector<std::string> missing_optimizer_state;
  std::vector<std::string> mismatched;  // "name: file f32[3], model f32[4]"
  std::vector<std::string> unused;      // tensors that the model does not have
};

// Copies the tensors of a file into the states of their names, one by one: the file is never held
// as a whole. In a report, tensors stand in the order of the file, `missing` in that of the states.
// Throws UserError if the file cannot be read.
WeightsReport LoadWeights(Engine& engine, const std::string& path);

}  // namespace cgrun

#endif  // CGRUN_TRAIN_WEIGHTS_H_
