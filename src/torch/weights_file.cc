// The first bytes tell the formats apart, whatever the file is called.
#include "src/torch/weights_file.h"

#include "src/torch/torch_file.h"

namespace cgrun {

std::unique_ptr<TensorFile> OpenWeightsFile(const std::string& path) {
  if (torch::BeginsAsTorchFile(path)) return std::make_unique<torch::TorchFile>(path);
  return std::make_unique<SafetensorsReader>(path);
}

SafetensorsMetadata ReadWeightsMetadata(const std::string& path) {
  if (torch::BeginsAsTorchFile(path)) return {};
  return ReadSafetensorsMetadata(path);
}

}  // namespace cgrun
