// Keeps what was imported until the weights are written.
#include "src/cli/onnx_networks.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>

#include "src/base/diagnostics.h"
#include "src/base/word_list.h"
#include "src/cli/onnx_model.h"
#include "src/import/onnx_networks.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

OnnxNetworks& ImportedNetworks() {
  static OnnxNetworks networks;
  return networks;
}

// Lists the files of ONNX by the files of weights that were made of them.
std::map<std::string, std::string>& FilesByWeights() {
  static std::map<std::string, std::string> files;
  return files;
}

std::vector<std::string> OnnxFilesOf(const ModelSpec& model) {
  std::vector<std::string> files;
  for (const NetworkSpec& network : model.networks) {
    if (!network.onnx) continue;
    const std::string file = ResolvePath(model.file_name, network.onnx->file.value);
    if (std::ranges::find(files, file) == files.end()) files.push_back(file);
  }
  return files;
}

bool Exists(const std::string& file) {
  std::error_code error;
  return std::filesystem::exists(file, error);
}

}  // namespace

TreeExpander OnnxNetworkExpander() {
  return [](TreeNode& tree, const std::string& model_file, Diagnostics& diagnostics) {
    ImportedNetworks().Expand(tree, model_file, diagnostics);
  };
}

std::string NetworkWeights(const ModelSpec& model) {
  const std::vector<std::string> files = OnnxFilesOf(model);
  if (files.empty()) return "";
  std::string weights = WriteScratchWeights(
      [&](const std::string& path) { ImportedNetworks().WriteWeights(model, path); });
  ImportedNetworks().Forget();
  FilesByWeights()[weights] = ListWords(files, "and");
  return weights;
}

void TakeNetworkWeights(ModelSpec& model, bool has_weights) {
  for (const std::string& file : OnnxFilesOf(model)) {
    if (Exists(file)) continue;
    if (has_weights) return;
    throw InputError(SystemErrorText("open", file, ENOENT),
                     "a new run begins with the weights in it; --weights begins with those of a "
                     "run, or of another file");
  }
  model.initial_weights = NetworkWeights(model);
}

std::optional<std::string> FilesOfNetworkWeights(const std::string& file) {
  const auto found = FilesByWeights().find(file);
  return found == FilesByWeights().end() ? std::nullopt : std::optional(found->second);
}

}  // namespace cgrun
