#include "src/report/pass_gains_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr size_t kLineWidth = 100;

bool HasIntervals(const std::vector<PassGain>& gains) {
  return std::ranges::any_of(
      gains, [](const PassGain& gain) { return gain.speedup && gain.speedup->interval; });
}

std::string MiB(int64_t bytes) {
  return fmt::format("{:.2f}", static_cast<double>(bytes) / (1 << 20));
}

std::vector<std::string> RowOf(const PassGain& gain) {
  std::vector<std::string> cells = {gain.pass, MiB(gain.bytes)};
  if (!gain.speedup) return cells;
  cells.push_back(fmt::format("{:.3f} ×", gain.speedup->median));
  if (const auto& interval = gain.speedup->interval) {
    cells.push_back(fmt::format("{:.2f}–{:.2f}", interval->first, interval->second));
  }
  return cells;
}

// Returns the table of the passes that were timed; "" where none was.
std::string TableOf(const std::vector<PassGain>& gains, bool took_turns) {
  std::vector<std::string> head = {"pass", "saves MiB", "speedup"};
  if (HasIntervals(gains)) head.emplace_back("95 %");
  std::vector<Align> columns(head.size(), Align::kRight);
  columns[0] = Align::kLeft;
  TextTable table(columns);
  table.Add(head);
  table.AddRule();
  bool any = false;
  for (const PassGain& gain : gains) {
    if (gain.changes_nothing) continue;
    table.Add(RowOf(gain));
    any = true;
  }
  if (!any) return "";
  return table.ToString() +
         fmt::format(
             "\nsaves: of the most at once; speedup: of the graph with all passes over the one "
             "without\nthis, {}.\n",
             took_turns ? "the median of each round's own" : "by the medians");
}

std::string IdleText(const std::vector<PassGain>& gains) {
  std::vector<std::string> names;
  for (const PassGain& gain : gains) {
    if (gain.changes_nothing) names.push_back(gain.pass);
  }
  if (names.empty()) return "";
  return WrapText(
             fmt::format(
                 "changes nothing, as the program is the same without it, and was not timed: {}",
                 fmt::join(names, ", ")),
             "", kLineWidth) +
         "\n";
}

}  // namespace

std::string PassGainsText(const BenchResult& result) {
  const std::vector<PassGain>& gains = result.pass_gains;
  const std::string table = TableOf(gains, !result.isolated), idle = IdleText(gains);
  return table + (table.empty() || idle.empty() ? "" : "\n") + idle;
}

}  // namespace cgrun
