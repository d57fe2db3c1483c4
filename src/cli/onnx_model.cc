// Keeps what was imported until its weights are asked for.
#include "src/cli/onnx_model.h"

#include <fcntl.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "src/import/import.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

struct OpenedModel {
  OpenedModel(const std::string& path, const OnnxFlags& flags)
      : file(path), model(ImportOnnx(file, ImportOptionsOf(flags))) {}

  onnx::OnnxFile file;
  ImportedModel model;
  std::string weights;  // the file of OnnxWeights(); "" before
};

using OpenedModels = std::map<std::string, std::unique_ptr<OpenedModel>>;

OpenedModels& Opened() {
  static OpenedModels models;
  return models;
}

std::string KeyOfPath(const std::string& path) {
  std::error_code error;
  const fs::path canonical = fs::canonical(path, error);
  return error ? path : canonical.string();
}

OpenedModel& OpenedAt(const std::string& path, const OnnxFlags& flags) {
  std::unique_ptr<OpenedModel>& opened = Opened()[KeyOfPath(path)];
  if (opened == nullptr) opened = std::make_unique<OpenedModel>(path, flags);
  return *opened;
}

// A folder that goes with all that is in it.
class ScratchFolder {
 public:
  ScratchFolder() : path_((fs::temp_directory_path() / "cgrun-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) {
      throw UserError(SystemErrorText("make", path_, errno),
                      "the weights of the model go there: TMPDIR names another folder");
    }
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The descriptor stays open until the process ends.
std::string WriteWeights(OpenedModel& opened) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/weights.safetensors";
  WriteImportedWeights(opened.model, opened.file, path);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw UserError(SystemErrorText("open", path, errno));
  return "/proc/self/fd/" + std::to_string(descriptor);
}

}  // namespace

bool IsOnnxFile(const std::string& path) { return path.ends_with(".onnx"); }

std::string OnnxModelText(const std::string& path, const OnnxFlags& flags) {
  TreeNode tree = OpenedAt(path, flags).model.tree;
  tree.entries.insert(tree.entries.begin() + 1,
                      KeyOf("weights", fs::path(path).filename().string()));
  return ToYaml(tree);
}

std::string OnnxWeights(const std::string& path) {
  OpenedModel& opened = OpenedAt(path, {});
  if (opened.weights.empty()) opened.weights = WriteWeights(opened);
  return opened.weights;
}

std::optional<std::string> OnnxFileOfWeights(const std::string& file) {
  for (const auto& [key, opened] : Opened()) {
    if (opened != nullptr && opened->weights == file && !file.empty()) return opened->file.path();
  }
  return std::nullopt;
}

}  // namespace cgrun
