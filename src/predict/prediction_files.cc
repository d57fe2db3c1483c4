// Rows are written as they come.
#include "src/predict/prediction_files.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "src/run/kept_values.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

void CheckFree(const std::string& path, const std::vector<std::string>& inputs) {
  const std::string help = "--out DIR takes another folder";
  std::error_code error;
  if (!fs::exists(path, error)) return;
  for (const std::string& input : inputs) {
    if (!fs::equivalent(path, input, error)) continue;
    throw InputError("'" + path + "' would be written over, but it is what is read", help);
  }
  if (BeginsAsNpy(path)) return;
  throw InputError("'" + path + "' exists and is not a NumPy array, so it is not replaced", help);
}

}  // namespace

PredictionFiles::PredictionFiles(const std::string& folder, const PredictSignature& signature,
                                 const std::vector<std::string>& inputs, int64_t most) {
  const auto path_of = [&](const PredictedOutput& output) {
    return (fs::path(folder) / NpyFileName(output.name)).string();
  };
  for (const PredictedOutput& output : signature.outputs) CheckFree(path_of(output), inputs);
  MakeFolder(folder);
  for (const PredictedOutput& output : signature.outputs) {
    whole_.emplace_back();
    files_.emplace_back();
    if (output.whole) {
      whole_.back() = {path_of(output), HostTensor(output.dtype, output.shape)};
    } else {
      files_.back() =
          std::make_unique<NpyWriter>(path_of(output), output.dtype, output.shape, most);
    }
  }
}

void PredictionFiles::Add(PredictionBytes outputs) {
  for (size_t i = 0; i < files_.size(); ++i) {
    if (files_[i]) {
      files_[i]->Add(outputs[i]);
    } else if (!std::exchange(whole_[i].is_set, true)) {
      std::ranges::copy(outputs[i], whole_[i].tensor.bytes().begin());
    }
  }
}

void PredictionFiles::Commit() {
  for (size_t i = 0; i < files_.size(); ++i) {
    if (files_[i]) {
      files_[i]->Commit();
    } else {
      WriteNpy(whole_[i].path, whole_[i].tensor);
    }
  }
}

}  // namespace cgrun
