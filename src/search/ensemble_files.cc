#include "src/search/ensemble_files.h"

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "src/base/json_text.h"
#include "src/io/atomic_file.h"
#include "src/io/read_file.h"
#include "src/io/safetensors.h"
#include "src/run/checkpoint.h"
#include "src/search/ensemble_engine.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr char kModelFile[] = "model.yaml";
constexpr char kRecordFile[] = "ensemble.json";
constexpr size_t kChecksumDigits = 16;

nlohmann::ordered_json RecordOf(const EnsembleResult& result, const std::string& candidates) {
  nlohmann::ordered_json json = {{"method", result.greedy ? "greedy" : "top"},
                                 {"candidates", candidates},
                                 {"value", result.value},
                                 {"best_trial", result.best_trial},
                                 {"best_trial_value", result.alone},
                                 {"choosing_samples", result.choosing_samples},
                                 {"samples", result.samples},
                                 {"members", nlohmann::ordered_json::array()},
                                 {"refused", nlohmann::ordered_json::array()}};
  for (const EnsembleMember& member : result.members) {
    json["members"].push_back({{"trial", member.trial}, {"picks", member.picks}});
  }
  for (const EnsembleRefusal& refusal : result.refused) {
    json["refused"].push_back({{"trial", refusal.trial}, {"reason", refusal.reason}});
  }
  return json;
}

EnsembleResult ResultOf(const nlohmann::json& json) {
  EnsembleResult result;
  result.greedy = json.at("method") == "greedy";
  json.at("value").get_to(result.value);
  json.at("best_trial").get_to(result.best_trial);
  json.at("best_trial_value").get_to(result.alone);
  json.at("choosing_samples").get_to(result.choosing_samples);
  json.at("samples").get_to(result.samples);
  for (const nlohmann::json& member : json.at("members")) {
    result.members.push_back({member.at("trial"), member.at("picks")});
  }
  for (const nlohmann::json& refusal : json.at("refused")) {
    result.refused.push_back({refusal.at("trial"), refusal.at("reason")});
  }
  return result;
}

// Gives the states of an engine as a file of weights holds them.
class States final : public TensorSource {
 public:
  explicit States(const Engine& engine) : engine_(engine) {
    const std::vector<EngineState>& states = engine.model().states;
    for (size_t i = 0; i < states.size(); ++i) {
      if (IsOwnState(states[i].name)) continue;
      indices_.push_back(i);
      specs_.push_back({states[i].name, states[i].type.dtype, states[i].type.shape});
    }
  }
  const std::vector<TensorSpec>& specs() const { return specs_; }
  std::span<const std::byte> BytesOf(size_t index) override {
    const size_t state = indices_[index];
    const std::span<const std::byte> in_place = engine_.StateInPlace(state);
    if (!in_place.empty()) return in_place;
    copy_.resize(static_cast<size_t>(ByteSize(engine_.model().states[state].type)));
    engine_.ReadState(state, copy_);
    return copy_;
  }

 private:
  const Engine& engine_;
  std::vector<size_t> indices_;
  std::vector<TensorSpec> specs_;
  std::vector<std::byte> copy_;
};

// The names of classes, and the findings about the training data, which all members share.
SafetensorsMetadata MetadataOf(const std::string& weights) {
  SafetensorsMetadata kept = {{"format", "cgrun"},
                              {"model", "ensemble"},
                              {kChecksumKey, std::string(kChecksumDigits, '0')}};
  for (const auto& [key, text] : ReadSafetensorsMetadata(weights)) {
    if (key.starts_with("classes.") || key.starts_with("data.")) kept.emplace(key, text);
  }
  return kept;
}

void WriteWeights(const Engine& engine, const SafetensorsMetadata& metadata,
                  const std::string& path) {
  size_t room = 4096;
  for (const auto& [key, text] : metadata) room += 6 * (key.size() + text.size()) + 16;
  States states(engine);
  SafetensorsWriter writer(states.specs(), room);
  writer.WriteWithChecksum(path, states, metadata);
}

void WriteText(const std::string& path, const std::string& text) {
  WriteFileAtomically(path, std::as_bytes(std::span(text)));
}

}  // namespace

void WriteEnsemble(const EnsembleResult& result, std::span<const EnsembleSource> sources,
                   const std::string& candidates, const TrialPlace& place) {
  std::vector<PickedMember> members;
  for (const EnsembleSource& source : sources) members.push_back({source.member, source.picks});
  const TreeNode tree = EnsembleTree(members, EnsembleGraph::kWhole);
  const ModelSpec model = ModelOfEnsembleTree(tree, result.folder + "/" + kModelFile);
  const EnsembleEngine made = MakePredictingEngine(model, place);
  for (const EnsembleSource& source : sources) {
    LoadMember(*source.member, source.weights, *made.engine);
  }
  const std::string begun = result.folder + ".tmp";
  std::error_code error;
  fs::remove_all(begun, error);
  fs::create_directories(begun, error);
  if (!error) {
    const std::string head = "# It predicts the weighted mean of these trials' predictions:\n# ";
    WriteText(begun + "/" + kModelFile, head + MembersText(result) + "\n" + ToYaml(tree));
    WriteWeights(*made.engine, MetadataOf(sources[0].weights), begun + "/" + kBestFileName);
    WriteText(begun + "/" + kRecordFile, JsonText(RecordOf(result, candidates), 2) + "\n");
    fs::remove_all(result.folder, error);
  }
  if (!error) fs::rename(begun, result.folder, error);
  if (error) throw UserError("cannot write '" + result.folder + "': " + error.message());
}

std::optional<EnsembleResult> ReadEnsemble(const std::string& folder,
                                           const std::string& candidates) {
  std::error_code error;
  for (const char* name : {kModelFile, kBestFileName, kRecordFile}) {
    if (!fs::is_regular_file(folder + "/" + name, error)) return std::nullopt;
  }
  const nlohmann::json json = TryParseJson(ReadTextFile(folder + "/" + kRecordFile));
  if (!json.is_object() || json.value("candidates", "") != candidates) return std::nullopt;
  try {
    EnsembleResult result = ResultOf(json);
    result.folder = folder;
    return result;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace cgrun
