// Making run folders and writing their files.
#include "src/train/run_folder.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "src/io/atomic_file.h"
#include "src/model/model_file.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

bool IsRunFile(const std::string& name) {
  const bool checkpoint = name.rfind("checkpoint-", 0) == 0 && name.size() > 12 &&
                          name.compare(name.size() - 12, 12, ".safetensors") == 0;
  return checkpoint || name == "model.yaml" || name == "metrics.csv" || name == "summary.json";
}

void WriteText(const std::string& path, const std::string& text) {
  WriteFileAtomically(path, std::as_bytes(std::span(text)));
}

nlohmann::ordered_json NumbersOf(const PassResult& pass) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const NamedNumber& number : pass.means) json[number.name] = number.value;
  return json;
}

}  // namespace

void MakeRunFolder(const std::string& folder, bool force) {
  std::error_code error;
  const bool exists = fs::exists(folder, error);
  if (exists && !fs::is_directory(folder, error)) {
    throw InputError("'" + folder + "' is a file, not a folder", "choose another with --out DIR");
  }
  if (exists && !fs::is_empty(folder, error) && !force) {
    throw InputError("the run folder '" + folder + "' exists already",
                     "--force replaces what is in it, --out DIR takes another");
  }
  fs::create_directories(folder, error);
  if (error) throw UserError("cannot make the folder '" + folder + "': " + error.message());
  if (!exists) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!IsRunFile(entry.path().filename().string())) continue;
    fs::remove(entry.path(), error);
    if (error) throw UserError("cannot remove '" + entry.path().string() + "': " + error.message());
  }
}

void WriteModelFile(const std::string& folder, const ModelSpec& model) {
  WriteText(folder + "/model.yaml", ToYaml(ResolvedTree(model)));
}

std::string SummaryJson(const ModelSpec& model, const Session& session, const TrainResult& result) {
  nlohmann::ordered_json json = {{"model", model.name.value},
                                 {"device", session.program().image().device},
                                 {"batch", session.batch()},
                                 {"epochs", result.epochs},
                                 {"steps", result.steps},
                                 {"seconds", result.seconds},
                                 {"samples_per_second", result.samples_per_second},
                                 {"train", NumbersOf(result.last.train)},
                                 {"valid", nlohmann::ordered_json::object()},
                                 {"test", nlohmann::ordered_json::object()}};
  for (const PassResult& pass : result.last.evaluations) json[pass.split] = NumbersOf(pass);
  json["planned_peak_bytes"] = result.memory.planned();
  json["measured_peak_bytes"] = result.memory.measured;
  if (result.allocations_after_first_step >= 0) {
    json["allocations_after_first_step"] = result.allocations_after_first_step;
  }
  json["heap_growth_bytes"] = result.heap_growth_bytes;
  char hash[17];
  std::snprintf(hash, sizeof(hash), "%016llx",
                static_cast<unsigned long long>(result.weights_hash));
  json["weights_hash"] = hash;
  json["interrupted"] = result.interrupted;
  return json.dump(2) + "\n";
}

void WriteSummary(const std::string& folder, const std::string& json) {
  WriteText(folder + "/summary.json", json);
}

}  // namespace cgrun
