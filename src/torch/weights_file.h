// Opens a file of weights, whichever program wrote it.
#ifndef CGRUN_TORCH_WEIGHTS_FILE_H_
#define CGRUN_TORCH_WEIGHTS_FILE_H_

#include <memory>
#include <string>

#include "src/io/safetensors.h"
#include "src/io/tensor_file.h"

namespace cgrun {

// Looks at the contents: a file that PyTorch saved, or else safetensors. UserError names the file
// and the fault.
std::unique_ptr<TensorFile> OpenWeightsFile(const std::string& path);

// The metadata of such a file; PyTorch's have none. The errors of ReadSafetensorsMetadata().
SafetensorsMetadata ReadWeightsMetadata(const std::string& path);

}  // namespace cgrun

#endif  // CGRUN_TORCH_WEIGHTS_FILE_H_
