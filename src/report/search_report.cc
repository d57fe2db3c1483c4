#include "src/report/search_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/base/json_text.h"
#include "src/base/shell_word.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr size_t kWidestSetting = 28;
constexpr size_t kMostRefusals = 3;  // on a terminal

// A setting in a column; blocks are cut.
std::string SettingText(const std::string& setting) {
  if (setting.size() <= kWidestSetting) return setting;
  size_t end = kWidestSetting - 1;
  while (end > 0 && (static_cast<unsigned char>(setting[end]) & 0xC0) == 0x80) --end;
  return setting.substr(0, end) + "…";
}

// The last part of a path that tells the parameters apart: "lr" of "train.optimizer.lr".
std::vector<std::string> ShortNames(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    size_t dot = path.rfind('.');
    const auto ends_alike = [&](const std::string& other) {
      return other != path && dot != std::string::npos && other.ends_with(path.substr(dot));
    };
    while (dot != std::string::npos && std::ranges::any_of(paths, ends_alike)) {
      dot = dot == 0 ? std::string::npos : path.rfind('.', dot - 1);
    }
    names.push_back(dot == std::string::npos ? path : path.substr(dot + 1));
  }
  return names;
}

std::vector<std::string> WithSettings(std::vector<std::string> cells, const TrialResult& trial) {
  for (const std::string& setting : trial.settings) cells.push_back(SettingText(setting));
  return cells;
}

std::vector<Align> Columns(size_t numbers, const SearchResult& result) {
  std::vector<Align> columns(numbers, Align::kRight);
  columns.resize(numbers + result.parameters.size(), Align::kLeft);
  columns.push_back(Align::kLeft);
  return columns;
}

nlohmann::ordered_json TrialJson(const SearchResult& result, const TrialResult& trial) {
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();
  for (size_t i = 0; i < trial.settings.size(); ++i) {
    if (!trial.settings[i].empty()) settings[result.parameters[i]] = trial.settings[i];
  }
  nlohmann::ordered_json json = {{"trial", trial.number},
                                 {"state", Name(trial.state)},
                                 {"settings", std::move(settings)},
                                 {"value", nullptr},
                                 {"curve", trial.curve},
                                 {"epochs", trial.epochs},
                                 {"planned_epochs", trial.planned_epochs},
                                 {"arena_bytes", trial.arena},
                                 {"planned_bytes", trial.memory},
                                 {"estimated_seconds", trial.estimated_seconds},
                                 {"seconds", trial.seconds},
                                 {"resident_bytes", trial.resident},
                                 {"weights_hash", trial.weights},
                                 {"folder", trial.folder}};
  if (trial.value) json["value"] = *trial.value;
  if (!trial.reason.empty()) json["reason"] = trial.reason;
  return json;
}

nlohmann::ordered_json EnsembleJson(const EnsembleResult& ensemble) {
  nlohmann::ordered_json json = {{"method", ensemble.greedy ? "greedy" : "top"},
                                 {"folder", ensemble.folder},
                                 {"value", nullptr},
                                 {"best_trial", nullptr},
                                 {"best_trial_value", nullptr},
                                 {"choosing_samples", ensemble.choosing_samples},
                                 {"samples", ensemble.samples},
                                 {"members", nlohmann::ordered_json::array()},
                                 {"refused", nlohmann::ordered_json::array()}};
  if (ensemble.problem.empty()) {
    json["value"] = ensemble.value;
    json["best_trial"] = ensemble.best_trial;
    json["best_trial_value"] = ensemble.alone;
  } else {
    json["problem"] = ensemble.problem;
  }
  for (const EnsembleMember& member : ensemble.members) {
    json["members"].push_back({{"trial", member.trial}, {"picks", member.picks}});
  }
  for (const EnsembleRefusal& refusal : ensemble.refused) {
    json["refused"].push_back({{"trial", refusal.trial}, {"reason", refusal.reason}});
  }
  return json;
}

std::string RefusalsText(const EnsembleResult& ensemble) {
  std::string text;
  for (size_t i = 0; i < std::min(kMostRefusals, ensemble.refused.size()); ++i) {
    const EnsembleRefusal& refusal = ensemble.refused[i];
    text += fmt::format("Trial {} cannot be a member: {}.\n", refusal.trial, refusal.reason);
  }
  const int64_t more = std::ssize(ensemble.refused) - static_cast<int64_t>(kMostRefusals);
  if (more > 0) text += "Nor can " + CountText(more, "other trial") + ".\n";
  return text;
}

}  // namespace

std::string PlannedTrials(const SearchResult& result) {
  TextTable table(Columns(5, result));
  std::vector<std::string> head = {"trial", "epochs", "arena", "memory", "about"};
  for (std::string& name : ShortNames(result.parameters)) head.push_back(std::move(name));
  table.Add(std::move(head));
  table.AddRule();
  std::vector<const TrialResult*> trials;
  for (const TrialResult& trial : result.trials) trials.push_back(&trial);
  std::ranges::sort(trials, {}, &TrialResult::number);
  for (const TrialResult* trial : trials) {
    const bool is_planned = trial->planned_epochs > 0;
    auto cells = WithSettings(
        {std::to_string(trial->number), is_planned ? std::to_string(trial->planned_epochs) : "",
         is_planned ? FormatBytes(trial->arena) : "", is_planned ? FormatBytes(trial->memory) : "",
         is_planned ? FormatSeconds(trial->estimated_seconds) : ""},
        *trial);
    if (trial->state == TrialState::kRefused) cells.push_back("refused: " + trial->reason);
    table.Add(std::move(cells));
  }
  return table.ToString();
}

std::string RankedTrials(const SearchResult& result, size_t most) {
  TextTable table(Columns(6, result));
  std::vector<std::string> head = {"rank", "trial", result.metric, "epochs", "arena", ""};
  for (std::string& name : ShortNames(result.parameters)) head.push_back(std::move(name));
  table.Add(std::move(head));
  table.AddRule();
  size_t rank = 0;
  for (size_t i = 0; i < std::min(most, result.trials.size()); ++i) {
    const TrialResult& trial = result.trials[i];
    const bool is_ranked = trial.value && trial.state != TrialState::kFailed;
    auto cells = WithSettings(
        {is_ranked ? std::to_string(++rank) : "", std::to_string(trial.number),
         trial.value ? fmt::format("{:.6g}", *trial.value) : "", std::to_string(trial.epochs),
         trial.arena > 0 ? FormatBytes(trial.arena) : "", Name(trial.state)},
        trial);
    cells.push_back(trial.reason);
    table.Add(std::move(cells));
  }
  std::string text = table.ToString();
  if (result.trials.size() > most) {
    text +=
        fmt::format("and {} more, in {}/results.csv\n", result.trials.size() - most, result.folder);
  }
  return text;
}

std::string BestTrialText(const SearchResult& result) {
  if (result.trials.empty() || !result.trials[0].value) return "";
  const TrialResult& best = result.trials[0];
  if (best.state == TrialState::kFailed) return "";
  std::string settings;
  for (size_t i = 0; i < best.settings.size(); ++i) {
    if (best.settings[i].empty()) continue;
    settings += (settings.empty() ? "" : ", ") + result.parameters[i] + " " + best.settings[i];
  }
  const std::string folder = ShellWord(result.folder + "/best");
  return fmt::format("Trial {} is the best: {} {:.6g} after {}{}{}.\n", best.number, result.metric,
                     *best.value, FormatCount(best.epochs, "epoch"),
                     settings.empty() ? "" : ", with ", settings) +
         fmt::format("Its test data say more: cgrun eval {}/model.yaml --weights {}\n", folder,
                     folder);
}

std::string EnsembleText(const SearchResult& result) {
  if (!result.ensemble) return "";
  const EnsembleResult& ensemble = *result.ensemble;
  if (!ensemble.problem.empty()) {
    return "There is no ensemble: " + ensemble.problem + ".\n" + RefusalsText(ensemble);
  }
  const std::string folder = ShellWord(ensemble.folder);
  const bool is_best = !result.trials.empty() && ensemble.best_trial == result.trials[0].number;
  const std::string best =
      is_best ? "the best trial" : fmt::format("trial {}", ensemble.best_trial);
  return fmt::format(
             "Ensemble of {} ({}): {} {:.6g} on the other half of valid; {} alone {:.6g}.\n",
             ensemble.members.size(), ensemble.greedy ? "greedy" : "top", result.metric,
             ensemble.value, best, ensemble.alone) +
         fmt::format("It is one model: cgrun eval {}/model.yaml --weights {}\n", folder, folder) +
         RefusalsText(ensemble);
}

std::string RungsText(const SearchResult& result) {
  std::string text;
  int64_t sum = 0, before = 0;
  for (const RungResult& rung : result.rungs) {
    sum += rung.trials * (rung.epochs - before);
    before = rung.epochs;
    text += text.empty() ? FormatCount(rung.trials, "trial") : ", " + FormatCount(rung.trials);
    text += fmt::format(" to epoch {}", rung.epochs);
  }
  return text.empty() ? "" : text + ": " + FormatCount(sum, "epoch") + " at most";
}

std::string SearchJson(const SearchResult& result) {
  nlohmann::ordered_json json = {{"search", result.name},
                                 {"folder", result.folder},
                                 {"method", result.method},
                                 {"metric", result.metric},
                                 {"goal", result.higher_is_better ? "max" : "min"},
                                 {"parameters", result.parameters},
                                 {"rungs", nlohmann::ordered_json::array()},
                                 {"most_trials", nullptr},
                                 {"configurations", nullptr},
                                 {"jobs", result.jobs},
                                 {"threads", result.threads},
                                 {"heap_bytes", result.heap},
                                 {"data_bytes", result.data},
                                 {"seconds", result.seconds},
                                 {"interrupted", result.interrupted},
                                 {"out_of_time", result.out_of_time},
                                 {"trials", nlohmann::ordered_json::array()}};
  if (result.most_trials) json["most_trials"] = *result.most_trials;
  if (result.configurations) json["configurations"] = *result.configurations;
  for (const RungResult& rung : result.rungs) {
    json["rungs"].push_back({{"epochs", rung.epochs}, {"trials", rung.trials}});
  }
  for (const TrialResult& trial : result.trials) json["trials"].push_back(TrialJson(result, trial));
  if (result.ensemble) json["ensemble"] = EnsembleJson(*result.ensemble);
  return JsonText(json, 2) + "\n";
}

}  // namespace cgrun
