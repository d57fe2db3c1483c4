// Keeps what was imported until its weights are asked for.
#include "src/cli/onnx_model.h"

#include <fcntl.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "src/cli/console.h"
#include "src/cli/onnx_networks.h"
#include "src/import/import.h"
#include "src/import/network.h"
#include "src/io/file_error.h"
#include "src/model/model_file.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

struct OpenedModel {
  OpenedModel(const std::string& path, const OnnxFlags& flags)
      : file(path), model(ImportOnnx(file, ImportOptionsOf(flags))) {
    for (const std::string& warning : model.warnings) Tell("warning: " + warning);
  }

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

OnnxFlags& Remembered() {
  static OnnxFlags flags;
  return flags;
}

// The keys of a file that is a part of a model file.
TreeNode ReadDataTree(const std::string& path) {
  Diagnostics diagnostics;
  ModelSpec partial;
  LoadModelFile(path, {}, diagnostics, {}, &partial);
  if (partial.tree.IsMap()) return partial.tree;
  for (const Diagnostic& item : diagnostics.Sorted()) {
    const std::string place = item.mark.ToString();
    throw InputError((place.empty() ? "" : place + ": ") + item.message, item.help);
  }
  throw InputError("'" + path + "' has no keys", "write `data: {test: {format: …}}`");
}

TreeNode& ValueOf(TreeNode& map, const std::string& key) {
  const auto found = std::ranges::find(map.entries, key, &TreeEntry::key);
  if (found != map.entries.end()) return found->value;
  map.entries.push_back({key, {}, TreeNode::Map({})});
  return map.entries.back().value;
}

// Adds what a file of data says to an imported model. Keys that are there are replaced.
void AddKeys(TreeNode& tree, const TreeNode& data) {
  for (const TreeEntry& entry : data.entries) {
    if (entry.key == "inputs" && entry.value.IsMap()) {
      TreeNode& inputs = ValueOf(tree, entry.key);
      inputs.entries.insert(inputs.entries.end(), entry.value.entries.begin(),
                            entry.value.entries.end());
    } else if (entry.key == "loss" || entry.key == "metrics") {
      ValueOf(ValueOf(tree, "paths"), kImportedPath).entries.push_back(entry);
    } else {
      std::erase_if(tree.entries, [&](const TreeEntry& own) { return own.key == entry.key; });
      tree.entries.push_back(entry);
    }
  }
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

}  // namespace

bool IsOnnxFile(const std::string& path) { return path.ends_with(".onnx"); }

OnnxModelFile ReadOnnxModel(const std::string& path, const OnnxFlags& flags) {
  TreeNode tree = OpenedAt(path, flags).model.tree;
  const bool has_data = !flags.data.empty();
  const std::string weights =
      has_data ? fs::absolute(path).string() : fs::path(path).filename().string();
  tree.entries.insert(tree.entries.begin() + 1, KeyOf("weights", weights));
  if (has_data) tree.entries.push_back(KeyOf("model", fs::path(path).stem().string()));
  Diagnostics diagnostics;
  std::optional<TreeNode> marked = Parse({path, ToYaml(tree)}, diagnostics);
  if (!marked) throw InputError("'" + path + "' cannot be read as it was imported");
  if (!has_data) return {path, *std::move(marked)};
  AddKeys(*marked, ReadDataTree(flags.data));
  return {flags.data, *std::move(marked)};
}

void RememberOnnxFlags(const OnnxFlags& flags) { Remembered() = flags; }

void TakeOnnxWeights(ModelSpec& model) {
  if (!model.weights || !IsOnnxFile(model.weights->value)) return;
  model.weights->value = OnnxWeights(ResolvePath(model.file_name, model.weights->value));
}

std::string OnnxWeights(const std::string& path) {
  OpenedModel& opened = OpenedAt(path, Remembered());
  if (opened.weights.empty()) {
    opened.weights = WriteScratchWeights(
        [&](const std::string& file) { WriteImportedWeights(opened.model, opened.file, file); });
  }
  return opened.weights;
}

// The descriptor stays open until the process ends.
std::string WriteScratchWeights(const std::function<void(const std::string& path)>& write) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/weights.safetensors";
  write(path);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw UserError(SystemErrorText("open", path, errno));
  return "/proc/self/fd/" + std::to_string(descriptor);
}

std::optional<std::string> OnnxFileOfWeights(const std::string& file) {
  if (auto networks = FilesOfNetworkWeights(file)) return networks;
  for (const auto& [key, opened] : Opened()) {
    if (opened != nullptr && opened->weights == file && !file.empty()) return opened->file.path();
  }
  return std::nullopt;
}

}  // namespace cgrun
