// Turns a model of ONNX into a model file and its weights: ImportOnnx() is the entry point, and
// WriteImported() writes both.
#ifndef CGRUN_IMPORT_IMPORT_H_
#define CGRUN_IMPORT_IMPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/import/items.h"
#include "src/model/tree.h"
#include "src/onnx/onnx_file.h"

namespace cgrun {

struct ImportOptions {
  std::map<std::string, int64_t> dims;                   // named dimensions, but for the batch
  std::map<std::string, const onnx::Tensor*> constants;  // for inputs: these are no placeholders
};

struct ImportedModel {
  TreeNode tree;                           // the model file, without `weights`
  std::vector<Weight> weights;             // with their full names
  std::vector<std::string> bound, folded;  // lines for people
  size_t nodes = 0, items = 0;
};

// Imports the model for inference. InputError names the file, the node and what is wrong: an
// operator, attribute or shape that is not supported, a dimension without a size, a fault of the
// file. The weights refer to `file`, and to the constants of the options.
ImportedModel ImportOnnx(onnx::OnnxFile& file, const ImportOptions& options);

// The elements of a weight as `cgrun` has them.
onnx::TensorBytes BytesOf(const Weight& weight, onnx::OnnxFile& file);

// Writes the weights to `weights_path`, a file beside the model file, if there are any; then the
// model file, which names it. Each is written atomically.
void WriteImported(const ImportedModel& model, onnx::OnnxFile& file, const std::string& path,
                   const std::string& weights_path);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_IMPORT_H_
