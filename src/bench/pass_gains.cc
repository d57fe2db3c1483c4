#include "src/bench/pass_gains.h"

#include <algorithm>
#include <string_view>

#include "src/bench/bench.h"
#include "src/passes/decisions.h"

namespace cgrun {
namespace {

constexpr std::string_view kWithout = "without ";

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

}  // namespace

std::vector<PassGain> PassGainsOf(const BenchResult& result) {
  std::vector<PassGain> gains;
  const CaseResult* all = FindCase(result, kAllPassesCase);
  if (all == nullptr) return gains;
  for (const std::string& pass : PassAndDecisionNames()) {
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

}  // namespace cgrun
