// A model of ONNX as MODEL of a verb: it is imported in memory, and its weights stay beside it.
#ifndef CGRUN_CLI_ONNX_MODEL_H_
#define CGRUN_CLI_ONNX_MODEL_H_

#include <functional>
#include <optional>
#include <string>

#include "src/cli/onnx_flags.h"
#include "src/model/model_spec.h"
#include "src/model/tree.h"

namespace cgrun {

// "net.onnx"
bool IsOnnxFile(const std::string& path);

// Holds a model file in memory.
struct OnnxModelFile {
  std::string path;  // paths in the tree start at its folder
  TreeNode tree;     // its marks are of the model, and of the file of `--data`
};

// Imports a file. The key `weights` of the model file names `path` itself, which stays mapped for
// OnnxWeights(). With `--data FILE.yaml`, the keys of that file are added: `data` and others to the
// model, `inputs` to its inputs, `loss` and `metrics` to its path. InputError as of ImportOnnx().
OnnxModelFile ReadOnnxModel(const std::string& path, const OnnxFlags& flags);

// Has later imports of files, such as those that a compiled program names, follow these flags.
void RememberOnnxFlags(const OnnxFlags& flags);

// Returns a safetensors file with the weights of an .onnx file, which is imported anew unless
// OnnxModelText() has done so. The file has no name and goes when the process ends: the path leads
// to a descriptor. Throws UserError where the disk is full.
std::string OnnxWeights(const std::string& path);

// Lets the key `weights` of a model that names an .onnx file name the file of OnnxWeights().
void TakeOnnxWeights(ModelSpec& model);

// The .onnx file whose weights OnnxWeights() has put into `file`, or the files of NetworkWeights();
// nothing for other files.
std::optional<std::string> OnnxFileOfWeights(const std::string& file);

// Has `write` write a file of weights to the path that it is given. Returns the path of a
// descriptor that leads to it. The file has no name and goes when the process ends. Throws
// UserError where the disk is full.
std::string WriteScratchWeights(const std::function<void(const std::string& path)>& write);

}  // namespace cgrun

#endif  // CGRUN_CLI_ONNX_MODEL_H_
