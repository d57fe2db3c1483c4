// Rows are gathered, and written at the end.
#include "src/train/prediction_files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "src/io/npy.h"
#include "src/train/kept_values.h"

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
  char start[6] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof(start));
  if (std::memcmp(start, "\x93NUMPY", sizeof(start)) == 0) return;
  throw InputError("'" + path + "' exists and is not a NumPy array, so it is not replaced", help);
}

}  // namespace

PredictionFiles::PredictionFiles(const std::string& folder, const PredictSignature& signature,
                                 const std::vector<std::string>& inputs) {
  for (const PredictedOutput& output : signature.outputs) {
    const std::string path = (fs::path(folder) / NpyFileName(output.name)).string();
    CheckFree(path, inputs);
    files_.push_back({path, output.dtype, output.shape});
  }
  MakeFolder(folder);
}

void PredictionFiles::Add(PredictionBytes outputs) {
  for (size_t i = 0; i < files_.size(); ++i) {
    files_[i].bytes.insert(files_[i].bytes.end(), outputs[i].begin(), outputs[i].end());
  }
  ++samples_;
}

void PredictionFiles::Write() const {
  for (const File& file : files_) {
    std::vector<Dim> dims = {samples_};
    dims.insert(dims.end(), file.sample.begin(), file.sample.end());
    WriteNpy(file.path, file.dtype, Shape(std::move(dims)), file.bytes);
  }
}

}  // namespace cgrun
