#include "src/search/search_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include "src/base/diagnostics.h"
#include "src/io/atomic_file.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

// A cell as RFC 4180 has it.
std::string Cell(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

void WriteText(const std::string& path, const std::string& text) {
  WriteFileAtomically(path, std::as_bytes(std::span(text)));
}

// A plan that is refused was measured, and measurements are no part of the table.
bool IsRefusedByPlan(const TrialResult& trial) {
  return trial.state == TrialState::kRefused && trial.planned_epochs > 0;
}

std::string TimesCsv(const SearchResult& result) {
  std::string text = "trial,seconds,estimated_seconds,planned_bytes,resident_bytes\n";
  for (const TrialResult& trial : result.trials) {
    text += fmt::format("{},{:.3f},{:.3f},{},{}\n", trial.number, trial.seconds,
                        trial.estimated_seconds, trial.memory, trial.resident);
  }
  return text;
}

}  // namespace

std::string ResultsCsv(const SearchResult& result) {
  std::string text = "rank,trial,state," + Cell(result.metric) + ",epochs,arena_bytes,weights";
  for (const std::string& parameter : result.parameters) text += "," + Cell(parameter);
  text += ",reason\n";
  int64_t rank = 0;
  for (const TrialResult& trial : result.trials) {
    const bool is_ranked = trial.value && trial.state != TrialState::kFailed;
    text += is_ranked ? std::to_string(++rank) : "";
    const bool refused = IsRefusedByPlan(trial);
    text += fmt::format(",{},{},{},{},{},{}", trial.number, Name(trial.state),
                        trial.value ? fmt::format("{}", *trial.value) : "", trial.epochs,
                        refused ? "" : std::to_string(trial.arena), trial.weights);
    for (const std::string& setting : trial.settings) text += "," + Cell(setting);
    text += "," + (refused ? "it takes too much memory" : Cell(trial.reason)) + "\n";
  }
  return text;
}

void WriteTables(const SearchResult& result) {
  WriteText(result.folder + "/results.csv", ResultsCsv(result));
  WriteText(result.folder + "/times.csv", TimesCsv(result));
}

void CopyBest(const SearchResult& result) {
  if (result.trials.empty() || result.trials[0].folder.empty()) return;
  const std::string best = result.folder + "/best", begun = best + ".tmp";
  std::error_code error;
  fs::remove_all(begun, error);
  fs::copy(result.trials[0].folder, begun, fs::copy_options::recursive, error);
  if (!error) fs::remove_all(best, error);
  if (!error) fs::rename(begun, best, error);
  if (error) throw UserError("cannot write '" + best + "': " + error.message());
}

void RemoveRunFolder(const std::string& folder) {
  std::error_code error;  // a folder that stays costs room alone
  fs::remove_all(folder, error);
}

}  // namespace cgrun
