// Dates, and command lines as text.
#include "src/cli/run_origin.h"

#include <ctime>

#include "src/base/printable.h"
#include "src/base/shell_word.h"
#include "src/cli/version.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

// run.json is read whole, and has a limit.
constexpr size_t kMostParts = 100;
constexpr size_t kMostOfCommand = 2000;  // bytes

std::string& CommandOfProcess() {
  static std::string command;
  return command;
}

// "2026-05-04 15:30:00 +0200", in the time zone of the machine.
std::string DateNow() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  char text[64];
  if (localtime_r(&now, &parts) == nullptr) return "";
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &parts)};
}

}  // namespace

void NoteCommandLine(int argc, const char* const* argv) {
  CommandOfProcess() = CommandText(argc, argv);
}

std::string CommandText(int argc, const char* const* argv) {
  std::string text = "cgrun";
  for (int i = 1; i < argc; ++i) text += " " + ShellWord(argv[i]);
  const bool is_cut = text.size() > kMostOfCommand;
  if (is_cut) text.resize(kMostOfCommand);
  return PrintableText(text) + (is_cut ? "…" : "");
}

std::vector<RunPart> PartsUntilNow(std::vector<RunPart> before, int64_t step) {
  if (before.size() >= kMostParts) before.erase(before.begin() + 1);
  before.push_back({DateNow(), std::string(kVersion), CommandOfProcess(), step});
  return before;
}

std::vector<std::pair<std::string, std::string>> OriginRows(const RunSettings& settings,
                                                            int64_t seed) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const RunPart& part : settings.parts) {
    const std::string when = part.date + " by cgrun " + part.version;
    if (rows.empty() && part.step == 0) {
      rows.emplace_back("started", when);
    } else {
      rows.emplace_back("resumed", when + ", at step " + FormatCount(part.step));
    }
    if (!part.command.empty()) rows.emplace_back("command", part.command);
  }
  rows.emplace_back("device", settings.device);
  rows.emplace_back("threads", std::to_string(settings.threads));
  rows.emplace_back("seed", std::to_string(seed));
  return rows;
}

}  // namespace cgrun
