// Turns a model of ONNX into a model file and its weights: ImportOnnx() is the entry point, and
// WriteImported() writes both.
#ifndef CGRUN_IMPORT_IMPORT_H_
#define CGRUN_IMPORT_IMPORT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/import/items.h"
#include "src/model/tree.h"
#include "src/onnx/onnx_file.h"

namespace cgrun {

// Gives an input its elements, or a text of them such as `16000` or `[1, 2]`.
struct GivenConstant {
  std::string text;
  std::optional<HostTensor> tensor = {};
};

struct ImportOptions {
  std::map<std::string, int64_t> dims;             // named dimensions
  std::map<std::string, GivenConstant> constants;  // for inputs: these are no placeholders
  // Values where the model is cut, by their names or those of the nodes that give them; empty: the
  // model's own outputs.
  std::vector<std::string> outputs = {};
  bool needs_batch = false;  // a model that computes along the batch is refused
  bool blocks = true;        // repeated operators are written once, as a block
};

struct ImportedModel {
  TreeNode tree;                // the model file, without `weights`
  std::vector<Weight> weights;  // with their full names
  // Items `parameter` whose elements are weights of an operator: a training run may change them.
  std::set<std::string> learned;
  std::vector<std::string> bound, folded, recognised;  // lines for people
  std::vector<std::string> warnings;                   // of what the file says, and is not so
  size_t nodes = 0, items = 0;
  bool has_batch = true;  // the inputs have one
};

// Imports the model for inference. The first dimension of each input is the batch, which stays
// open. If the model computes along it, all inputs are imported without a batch instead, with the
// sizes that the file and the options give.
//
// InputError names the file, the node and what is wrong: an operator, attribute or shape that is
// not supported, a dimension without a size, a fault of the file. The weights refer to `file`.
ImportedModel ImportOnnx(onnx::OnnxFile& file, const ImportOptions& options);

// The elements of a weight as `cgrun` has them.
onnx::TensorBytes BytesOf(const Weight& weight, onnx::OnnxFile& file);

// Writes the weights atomically, one tensor in memory at a time.
void WriteImportedWeights(const ImportedModel& model, onnx::OnnxFile& file,
                          const std::string& path);

// Writes the weights, of which there may be none, to `weights_path`, a file beside the model file;
// then the model file, which names it. Each is written atomically.
void WriteImported(const ImportedModel& model, onnx::OnnxFile& file, const std::string& path,
                   const std::string& weights_path);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_IMPORT_H_
