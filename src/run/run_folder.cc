#include "src/run/run_folder.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "src/base/file_kind.h"
#include "src/base/json_text.h"
#include "src/base/printable.h"
#include "src/base/shell_word.h"
#include "src/frontend/operator_defaults.h"
#include "src/io/atomic_file.h"
#include "src/io/checksum.h"
#include "src/io/file_error.h"
#include "src/io/memory_room.h"
#include "src/io/read_file.h"
#include "src/model/model_file.h"
#include "src/results/metrics_json.h"
#include "src/run/checkpoint.h"
#include "src/run/run_log.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr char kSummary[] = "/summary.json", kSettings[] = "/run.json";
constexpr char kFailure[] = "failure.txt";
constexpr int64_t kMostSettingsBytes = 1 << 20;

bool IsCheckpoint(const std::string& name) {
  return name.starts_with("checkpoint-") && name.ends_with(".safetensors");
}

// Whether a run by groups (src/groups) leaves such a file: its table, index, journal or weights.
bool IsGroupFile(const std::string& name) {
  return name == "groups.csv" || name == "groups.json" || name == "groups.jsonl" ||
         name == "groups.safetensors" || name == "groups-best.safetensors" ||
         name == "groups.weights" || name == "groups-best.weights";
}

bool IsRunFile(const std::string& name) {
  return IsCheckpoint(name) || IsGroupFile(name) || name == kBestFileName || name == "model.yaml" ||
         name == "metrics.csv" || name == kEventFileName || name == "summary.json" ||
         name == "report.html" || name == "run.json" || name == kFailure;
}

// The values that the run of the folder has kept, as its run.json says.
std::vector<std::string> KeptIn(const std::string& folder) {
  try {
    return ReadRunSettings(folder).kept_files;
  } catch (const UserError&) {
    return {};
  }
}

// The run's own files in the folder, and what a run that was killed had begun to write of them;
// none where it cannot be read.
std::vector<fs::path> RunFiles(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  const std::vector<std::string> kept_list = KeptIn(folder);
  const std::set<std::string> kept(kept_list.begin(), kept_list.end());
  const auto is_kept = [&](const std::string& name) {
    return name.ends_with(".npy") && kept.contains(name);
  };
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename().string();
    const std::string whole(PathOfTemporary(file));
    const std::string& name = whole.empty() ? file : whole;
    if (IsRunFile(name) || is_kept(name)) files.push_back(entry.path());
  }
  return files;
}

// Decides by run.json, which a run writes first, or had begun to write, or by its note of a
// failure. Somebody else may have written files called model.yaml, metrics.csv or report.html.
bool IsLeftByRun(const std::vector<fs::path>& files) {
  return std::ranges::any_of(files, [](const fs::path& file) {
    const std::string name = file.filename().string();
    const std::string whole(PathOfTemporary(name));
    return (whole.empty() ? name : whole) == "run.json" || name == kFailure;
  });
}

// Returns whether a run failed there before it left more than its checkpoint of step 0: no best
// model, and nothing that it was to keep.
bool FailedAtOnce(const std::string& folder) {
  std::error_code error;
  for (const fs::path& file : RunFiles(folder)) {
    if (file.filename() == kBestFileName || file.extension() == ".npy") return false;
  }
  const std::vector<CheckpointFile> checkpoints = CheckpointsIn(folder);
  return fs::exists(fs::path(folder) / kFailure, error) && checkpoints.size() == 1 &&
         checkpoints[0].step == 0;
}

void RefuseFolderOfInputs(const std::string& folder, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;
    if (input.empty() || !fs::equivalent(fs::absolute(input).parent_path(), folder, error))
      continue;
    throw InputError(
        "the run folder '" + folder + "' is the folder of '" + input + "', which this run reads",
        "--out DIR takes another, such as --out runs/again");
  }
}

void WriteText(const std::string& path, const std::string& text) {
  WriteFileAtomically(path, std::as_bytes(std::span(text)));
}

nlohmann::ordered_json NumbersOf(const PassResult& pass) {
  return ParseOrderedJson(MetricsJson(pass));
}

}  // namespace

void RunFolder::Check(const std::string& folder, bool force,
                      const std::vector<std::string>& inputs) {
  std::error_code error;
  const bool exists = fs::exists(folder, error);
  if (exists && !fs::is_directory(folder, error)) {
    throw InputError("'" + folder + "' is a file, not a folder", "choose another with --out DIR");
  }
  RunLock::CheckFree(folder);
  if (exists && access(folder.c_str(), R_OK | X_OK) != 0) {
    ThrowSystemError("read the folder", folder, errno);
  }
  RefuseFolderOfInputs(folder, inputs);
  const std::vector<fs::path> files = RunFiles(folder);
  if (exists && !fs::is_empty(folder, error) && !IsLeftByRun(files)) {
    throw InputError("the folder '" + folder + "' is not empty, and no run left it",
                     "--out DIR takes another");
  }
  if (!files.empty() && !force && !FailedAtOnce(folder)) {
    const std::string resume =
        CheckpointsIn(folder).empty() && !fs::exists(folder + "/groups.jsonl", error)
            ? ""
            : "`cgrun train --resume " + ShellWord(folder) + "` goes on with it, ";
    throw InputError("the run folder '" + folder + "' exists already",
                     resume + "--force replaces what is in it, --out DIR takes another");
  }
}

RunFolder::RunFolder(std::string folder, bool force, const std::vector<std::string>& inputs)
    : path_(std::move(folder)) {
  Check(path_, force, inputs);
  std::error_code error;
  for (fs::path missing = path_; !missing.empty() && !fs::exists(missing, error);
       missing = missing.parent_path()) {
    made_.insert(made_.begin(), missing.string());
  }
  fs::create_directories(path_, error);
  if (error) {
    ThrowSystemError("make the folder", path_, error.value(),
                     "--out DIR takes another, where folders can be made");
  }
  lock_.emplace(path_);
  for (const fs::path& file : RunFiles(path_)) {
    fs::remove(file, error);
    if (error) throw UserError("cannot remove '" + file.string() + "': " + error.message());
  }
}

RunFolder::~RunFolder() {
  const std::vector<fs::path> files = RunFiles(path_);
  if (keep_ || !CheckpointsIn(path_).empty()) return;
  std::error_code error;
  for (const fs::path& file : files) fs::remove(file, error);
  for (; !made_.empty() && !error; made_.pop_back()) fs::remove(made_.back(), error);
}

namespace {

// The first text in a tree that is not UTF-8; null where there is none.
const std::string* FindOtherText(const TreeNode& node) {
  if (FindNoUtf8(node.scalar) != std::string::npos) return &node.scalar;
  const std::string* found = nullptr;
  for (const TreeNode& item : node.items) {
    if (found == nullptr) found = FindOtherText(item);
  }
  for (const TreeEntry& entry : node.entries) {
    if (found == nullptr) found = FindOtherText(entry.value);
  }
  return found;
}

}  // namespace

void CheckPathsOfModel(const ModelSpec& model) {
  const TreeNode tree = ResolvedTree(model);
  const std::string* const path = FindOtherText(tree);
  if (path == nullptr) return;
  throw InputError("the path '" + *path +
                       "' is not UTF-8: model.yaml of the run folder, from which "
                       "a run is resumed, cannot name it",
                   "rename the file or folder that is called so: each '?' stands for such a byte");
}

void RemoveTemporaries(const std::string& folder) {
  for (const fs::path& file : RunFiles(folder)) {
    if (!PathOfTemporary(file.string()).empty()) RemoveLeftTemporary(file.string());
  }
}

void WriteRunSettings(const std::string& folder, const RunSettings& settings) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (const RunPart& part : settings.parts) {
    parts.push_back({{"date", part.date},
                     {"version", part.version},
                     {"command", part.command},
                     {"step", part.step}});
  }
  const nlohmann::ordered_json json = {
      {"device", settings.device},         {"mode", Name(settings.mode)},
      {"threads", settings.threads},       {"limit_batches", settings.limit_batches},
      {"kept_files", settings.kept_files}, {"base_bytes", settings.base_bytes},
      {"lanes", settings.streams},         {"data_hash", settings.data_hash},
      {"tuning", settings.tuning},         {"overrides", settings.overrides},
      {"parts", std::move(parts)}};
  WriteText(folder + kSettings, JsonText(json, 2) + "\n");
}

namespace {

// A whole number of `least` to `most`. A JSON library's own conversion would bend others into it.
template <class T>
T WholeNumber(const nlohmann::json& json, T least, T most) {
  const bool fits = json.is_number_unsigned() && std::in_range<T>(json.get<uint64_t>());
  const T number = fits ? static_cast<T>(json.get<uint64_t>()) : least;
  if (!fits || number < least || number > most) {
    throw nlohmann::json::other_error::create(0, "a number that is none", nullptr);
  }
  return number;
}

std::vector<RunPart> PartsOf(const nlohmann::json& json) {
  std::vector<RunPart> parts;
  for (const nlohmann::json& part : json.value("parts", nlohmann::json::array())) {
    parts.push_back({part.at("date").get<std::string>(), part.at("version").get<std::string>(),
                     part.at("command").get<std::string>(),
                     WholeNumber<int64_t>(part.at("step"), 0, INT64_MAX)});
  }
  return parts;
}

}  // namespace

RunSettings ReadRunSettings(const std::string& folder) {
  const std::string path = folder + kSettings;
  try {
    const std::string text = ReadTextFile(path, kMostSettingsBytes);
    CheckJsonRoom(path, text);
    const nlohmann::json json = ParseJson(text);
    const bool eager = json.at("mode").get<std::string>() == Name(Mode::kEager);
    return {json.at("device"),
            eager ? Mode::kEager : Mode::kGraph,
            WholeNumber<int>(json.at("threads"), 1, kMostThreads),
            WholeNumber<int64_t>(json.at("limit_batches"), 0, INT64_MAX),
            json.value("kept_files", std::vector<std::string>()),
            WholeNumber<int64_t>(json.value("base_bytes", nlohmann::json(0u)), 0, INT64_MAX),
            json.value("lanes", true),
            json.value("data_hash", ""),
            json.value("tuning", ""),
            json.value("overrides", std::vector<std::string>()),
            PartsOf(json)};
  } catch (const nlohmann::json::exception&) {
    throw UserError("'" + path + "' does not say how the run was started",
                    "it is damaged; --weights starts a new run from the run's weights");
  }
}

void WriteModelFile(const std::string& folder, const ModelSpec& model) {
  WriteText(folder + "/model.yaml", ToYaml(WithOperatorDefaults(ResolvedTree(model))));
}

std::string SummaryJson(const TrainResult& result) {
  nlohmann::ordered_json json = {{"model", result.model},
                                 {"device", result.device},
                                 {"mode", Name(result.memory.mode)},
                                 {"batch", result.batch},
                                 {"epochs", result.epochs},
                                 {"steps", result.steps},
                                 {"resumed_at_step", result.resumed_step},
                                 {"graph_analyses", result.graph_analyses},
                                 {"seconds", result.seconds},
                                 {"samples_per_second", result.samples_per_second},
                                 {"train_seconds", result.train_seconds},
                                 {"loader_wait_seconds", result.stall_seconds},
                                 {"train", NumbersOf(result.last.train)},
                                 {"valid", nlohmann::ordered_json::object()},
                                 {"test", nlohmann::ordered_json::object()}};
  for (const PassResult& pass : result.last.evaluations) {
    json[pass.split] = NumbersOf(pass);
    if (pass.class_share) json["most_frequent_class"][pass.split] = *pass.class_share;
  }
  for (const auto& [set, samples] : result.left_out) {
    json[(set == "train" ? "" : set + "_") + "left_out_samples"] = samples;
  }
  if (result.slowdown) json["slowdown"] = *result.slowdown;
  if (result.expected_slowdown) {
    json["expected_slowdown"] = *result.expected_slowdown;
    if (result.slowdown) json["slowdown_error"] = *result.expected_slowdown - *result.slowdown;
  }
  json.update(ParseOrderedJson(MemoryJson(result.memory)));
  if (result.allocations_after_first_step) {
    json["allocations_after_first_step"] = *result.allocations_after_first_step;
    json["pool_requests"] = *result.pool_requests;
  }
  if (result.heap_growth_bytes) json["heap_growth_bytes"] = *result.heap_growth_bytes;
  json["weights_hash"] = HashText(result.weights_hash);
  json["interrupted"] = result.interrupted;
  json["stopped_early"] = result.stopped_early;
  if (result.early_stop) {
    const EarlyStop& stop = *result.early_stop;
    json["early_stop"] = {{"metric", stop.metric},
                          {"value", stop.value},
                          {"step", stop.best.step},
                          {"epoch", stop.best.epoch},
                          {"evaluations_since", stop.evaluations}};
  }
  json["run_folder"] = fs::path(result.checkpoint).parent_path().string();
  json["weights"] = result.checkpoint;
  if (!result.initial_weights.empty()) {
    const WeightsReport& report = result.loaded;
    json["initial_weights"] = {{"file", result.initial_weights},  {"loaded", report.loaded},
                               {"mismatched", report.mismatched}, {"not_in_file", report.missing},
                               {"skipped", report.skipped},       {"not_in_model", report.unused}};
  }
  if (!result.best.empty()) {
    json["best"] = {
        {"weights", result.best}, {"metric", result.best_metric}, {"value", result.best_value}};
    if (result.best_place) {
      json["best"]["step"] = result.best_place->step;
      json["best"]["epoch"] = result.best_place->epoch;
    }
  }
  return JsonText(json, 2) + "\n";
}

void WriteSummary(const std::string& folder, const std::string& json) {
  WriteText(folder + kSummary, json);
}

bool IsUnfinishedRun(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(folder + kSettings, error)) return false;
  try {
    const std::string path = folder + kSummary, text = ReadTextFile(path);
    CheckJsonRoom(path, text);
    const auto json = TryParseJson(text);
    return !json.is_object() || json.value("interrupted", nlohmann::json(false)) == true;
  } catch (const UserError&) {  // it is not there, or is no summary
    return true;
  }
}

void RemoveSummary(const std::string& folder) {
  std::error_code error;
  fs::remove(folder + kSummary, error);
  fs::remove(fs::path(folder) / kFailure, error);
}

void WriteFailure(const std::string& folder, const UserError& failure) {
  try {
    const std::string help = failure.help().empty() ? "" : "help: " + failure.help() + "\n";
    WriteText((fs::path(folder) / kFailure).string(), failure.what() + ("\n" + help));
  } catch (const UserError&) {
    // The failure itself is what is told.
  }
}

}  // namespace cgrun
