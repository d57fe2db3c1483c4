// A model of ONNX as MODEL of a verb: it is imported in memory, and its weights stay beside it.
#ifndef CGRUN_CLI_ONNX_MODEL_H_
#define CGRUN_CLI_ONNX_MODEL_H_

#include <optional>
#include <string>

#include "src/cli/onnx_flags.h"

namespace cgrun {

// "net.onnx"
bool IsOnnxFile(const std::string& path);

// Imports a file. Returns the text of the model file, whose key `weights` names `path` itself. The
// file stays mapped for OnnxWeights(). InputError as of ImportOnnx().
std::string OnnxModelText(const std::string& path, const OnnxFlags& flags);

// Returns a safetensors file with the weights of an .onnx file, which is imported anew unless
// OnnxModelText() has done so. The file has no name and goes when the process ends: the path leads
// to a descriptor. UserError where there is no room for it.
std::string OnnxWeights(const std::string& path);

// The .onnx file whose weights OnnxWeights() has put into `file`; nothing for other files.
std::optional<std::string> OnnxFileOfWeights(const std::string& file);

}  // namespace cgrun

#endif  // CGRUN_CLI_ONNX_MODEL_H_
