// A model file with the files of weights that it names.
#ifndef CGRUN_ONNX_ONNX_FILE_H_
#define CGRUN_ONNX_ONNX_FILE_H_

#include <string>

#include "src/io/mapped_file.h"
#include "src/onnx/external_files.h"
#include "src/onnx/model.h"
#include "src/onnx/tensor_bytes.h"

namespace cgrun::onnx {

// All views of the model point into the mappings that this owns. Nothing is trusted beyond what
// ReadMessage() and ExternalFiles check: names, edges, types and shapes may be anything.
class OnnxFile {
 public:
  // Throws the errors of ReadMessage(), and InputError for a file without a graph.
  explicit OnnxFile(const std::string& path, Lookup lookup = Lookup::kSystem);

  const std::string& path() const { return file_.path(); }
  Model& model() { return model_; }
  const Model& model() const { return model_; }

  // The elements of a tensor of this model, also of one whose data is external. See Bytes() in
  // tensor_bytes.h, and ExternalFiles.
  TensorBytes Bytes(const Tensor& tensor);
  // Throws UserError if a mapped file has become shorter meanwhile. The last bytes that were read
  // are then wrong, so call this after the last look at them.
  void CheckWhole() const;

 private:
  MappedFile file_;
  ExternalFiles external_;
  Model model_;
};

}  // namespace cgrun::onnx

#endif  // CGRUN_ONNX_ONNX_FILE_H_
