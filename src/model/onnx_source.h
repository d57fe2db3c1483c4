// Reads the keys of a network that is a model of ONNX.
#ifndef CGRUN_MODEL_ONNX_SOURCE_H_
#define CGRUN_MODEL_ONNX_SOURCE_H_

#include <optional>

#include "src/base/diagnostics.h"
#include "src/model/model_spec.h"

namespace cgrun {

// `network` is the map of a network with the key `onnx`. Returns nothing where no file is named,
// which is an error.
std::optional<OnnxSource> ReadOnnxSource(const TreeNode& network, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_MODEL_ONNX_SOURCE_H_
