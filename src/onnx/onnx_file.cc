// The model is read from its mapping when it is opened, external data when it is asked for.
#include "src/onnx/onnx_file.h"

#include <string_view>

#include "src/io/file_error.h"
#include "src/onnx/read.h"

namespace cgrun::onnx {
namespace {

// Git stores such a text in the place of a large file.
constexpr std::string_view kPointer = "version https://git-lfs";

void RefuseOtherFiles(const MappedFile& file) {
  if (file.bytes().empty()) ThrowFileError(file.path(), "is empty");
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  if (text.starts_with(kPointer)) {
    ThrowFileError(file.path(), "is the pointer of Git LFS to a model, not the model",
                   "`git lfs pull` fetches the model");
  }
}

}  // namespace

OnnxFile::OnnxFile(const std::string& path, Lookup lookup) : file_(path), external_(path, lookup) {
  RefuseOtherFiles(file_);
  model_ = ReadMessage<Model>(file_.bytes(), path);
  CheckWhole();
  if (!model_.graph) {
    ThrowFileError(path, "is not a model of ONNX: it has no graph",
                   "`torch.onnx.export` and other exporters write such models");
  }
}

TensorBytes OnnxFile::Bytes(const Tensor& tensor) {
  if (tensor.data_location != DataLocation::kExternal) return onnx::Bytes(tensor, path());
  return external_.Bytes(tensor);
}

void OnnxFile::CheckWhole() const {
  file_.CheckWhole();
  external_.CheckWhole();
}

}  // namespace cgrun::onnx
