// The files beside a model that hold the elements of its tensors.
#ifndef CGRUN_ONNX_EXTERNAL_FILES_H_
#define CGRUN_ONNX_EXTERNAL_FILES_H_

#include <map>
#include <memory>
#include <string>

#include "src/io/mapped_file.h"
#include "src/onnx/model.h"
#include "src/onnx/tensor_bytes.h"

namespace cgrun::onnx {

// Says how a name is looked up inside the model's folder. With kSystem, Linux does it (openat2,
// from 5.6), and kByHand is the fallback. kByHand opens folder by folder.
enum class Lookup { kSystem, kByHand };

// Opens and maps a file when the first tensor needs it.
//
// The names come from the model, so they are not trusted. A file lies below the folder in which the
// user named the model. The name is relative, without "..", and no part of it is a link. The file
// is a regular one with a single name: a hard link could lead to a file of somebody else.
class ExternalFiles {
 public:
  ExternalFiles(std::string model_path, Lookup lookup);
  ~ExternalFiles();
  ExternalFiles(const ExternalFiles&) = delete;
  ExternalFiles& operator=(const ExternalFiles&) = delete;

  // Returns a view of the elements of a tensor whose data is external. InputError names the tensor
  // for a file that must not be opened, for an offset or a length that is none, and unless the file
  // has as many bytes as the dimensions tell.
  TensorBytes Bytes(const Tensor& tensor);
  void CheckWhole() const;

 private:
  const MappedFile& Open(const Tensor& tensor, const std::string& location);

  std::string model_path_, folder_;
  Lookup lookup_;
  int folder_fd_ = -1;                                        // once it is needed
  std::map<std::string, std::unique_ptr<MappedFile>> files_;  // by location
};

}  // namespace cgrun::onnx

#endif  // CGRUN_ONNX_EXTERNAL_FILES_H_
