// Rows of what is left out.
#include "src/cli/pass_gains.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "src/passes/pipeline.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr std::string_view kWithout = "without ";
constexpr size_t kLineWidth = 100;

const CaseResult* FindCase(const BenchResult& result, std::string_view name) {
  const auto found = std::ranges::find(result.cases, name, &CaseResult::name);
  return found != result.cases.end() && found->fault.empty() ? &*found : nullptr;
}

std::optional<Speedup> SpeedupBy(const CaseResult& with, const CaseResult& without,
                                 bool took_turns) {
  if (with.round_seconds.empty() || without.round_seconds.empty()) return std::nullopt;
  if (!took_turns) return SpeedupApart(with.round_seconds, without.round_seconds);
  if (with.round_seconds.size() != without.round_seconds.size()) return std::nullopt;
  return SpeedupOf(with.round_seconds, without.round_seconds);
}

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

// Those that were timed; "" where none was.
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

std::vector<PassGain> PassGainsOf(const BenchResult& result) {
  std::vector<PassGain> gains;
  const CaseResult* all = FindCase(result, kAllPassesCase);
  if (all == nullptr) return gains;
  for (const std::string& pass : PassNames()) {
    if (std::ranges::count(result.idle_passes, pass) > 0) {
      gains.push_back({.pass = pass, .changes_nothing = true});
    } else if (const CaseResult* one = FindCase(result, std::string(kWithout) + pass)) {
      gains.push_back({.pass = pass,
                       .bytes = one->peak_bytes - all->peak_bytes,
                       .speedup = SpeedupBy(*all, *one, !result.isolated)});
    }
  }
  return gains;
}

std::string PassGainsText(const BenchResult& result) {
  const std::vector<PassGain> gains = PassGainsOf(result);
  const std::string table = TableOf(gains, !result.isolated), idle = IdleText(gains);
  return table + (table.empty() || idle.empty() ? "" : "\n") + idle;
}

}  // namespace cgrun
