// Rows of what is left out.
#include "src/cli/pass_gains.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr std::string_view kWithout = "without ";

const CaseResult* WithAll(const BenchResult& result) {
  const auto found = std::ranges::find(result.cases, kAllPassesCase, &CaseResult::name);
  return found != result.cases.end() && found->fault.empty() ? &*found : nullptr;
}

std::string MiB(int64_t bytes) {
  return fmt::format("{:.2f}", static_cast<double>(bytes) / (1 << 20));
}

std::vector<std::string> RowOf(const PassGain& gain) {
  std::vector<std::string> cells = {gain.pass, MiB(gain.bytes), "", ""};
  if (gain.speedup) {
    cells[2] = fmt::format("{:.3f} ×", gain.speedup->median);
    if (const auto& interval = gain.speedup->interval) {
      cells[3] = fmt::format("{:.2f}–{:.2f}", interval->first, interval->second);
    }
  }
  return cells;
}

}  // namespace

std::vector<PassGain> PassGainsOf(const BenchResult& result) {
  std::vector<PassGain> gains;
  const CaseResult* all = WithAll(result);
  if (all == nullptr) return gains;
  for (const CaseResult& one : result.cases) {
    if (!one.name.starts_with(kWithout) || !one.fault.empty()) continue;
    PassGain gain{one.name.substr(kWithout.size()), one.peak_bytes - all->peak_bytes, {}};
    const bool took_turns = !one.round_seconds.empty() && !result.isolated &&
                            one.round_seconds.size() == all->round_seconds.size();
    if (took_turns) gain.speedup = SpeedupOf(all->round_seconds, one.round_seconds);
    gains.push_back(std::move(gain));
  }
  return gains;
}

std::string PassGainsText(const BenchResult& result) {
  const std::vector<PassGain> gains = PassGainsOf(result);
  if (gains.empty()) return "";
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"pass", "saves MiB", "speedup", "95 %"});
  table.AddRule();
  for (const PassGain& gain : gains) table.Add(RowOf(gain));
  return table.ToString() +
         "\nsaves: of the most at once; speedup: of the graph with all passes over the one "
         "without\n"
         "this, the median of each round's own; that of a pass which changes nothing is noise.\n";
}

}  // namespace cgrun
