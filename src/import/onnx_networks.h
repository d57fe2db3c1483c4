// The networks of a model file that are models of ONNX: `networks: {trunk: {onnx: FILE}}`.
#ifndef CGRUN_IMPORT_ONNX_NETWORKS_H_
#define CGRUN_IMPORT_ONNX_NETWORKS_H_

#include <map>
#include <memory>
#include <string>

#include "src/base/diagnostics.h"
#include "src/import/import.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Imports each network once, and keeps it until Forget().
class OnnxNetworks {
 public:
  // Gives each network of the tree that has the key `onnx` and no `ops` the keys `in`, `out` and
  // `ops`, as a model file has them. The operators say with `frozen` which parameters never change;
  // the keys `frozen` and `train` of the network go. Reports, at the name of the file, why one
  // cannot be imported. Such a network stays as it is.
  void Expand(TreeNode& tree, const std::string& model_file, Diagnostics& diagnostics);

  // Writes the weights of the networks with `onnx` to `path`, as parameters of `model`: one tensor
  // in memory at a time. The errors of ImportOnnx(), and of files that cannot be written.
  void WriteWeights(const ModelSpec& model, const std::string& path);

  void Forget() { imported_.clear(); }

 private:
  struct Imported {
    Imported(const std::string& path, const ImportOptions& options)
        : file(path), model(ImportOnnx(file, options)) {}

    onnx::OnnxFile file;
    ImportedModel model;
  };

  Imported& ImportedAs(const OnnxSource& source, const std::string& model_file);

  std::map<std::string, std::unique_ptr<Imported>> imported_;  // by all that says how
};

}  // namespace cgrun

#endif  // CGRUN_IMPORT_ONNX_NETWORKS_H_
