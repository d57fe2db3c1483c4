#include "src/report/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/base/diagnostics.h"
#include "src/base/json_text.h"
#include "src/report/pass_gains_text.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

using Json = nlohmann::ordered_json;

double ReductionOf(const CaseResult& result, const CaseResult& baseline) {
  if (baseline.peak_bytes <= 0) return 0;
  return 1 - static_cast<double>(result.peak_bytes) / static_cast<double>(baseline.peak_bytes);
}

bool AreTimed(const CaseResult& result, const CaseResult& baseline) {
  return result.seconds_per_iteration && baseline.seconds_per_iteration;
}

// Returns whether the times do not tell which case is the faster one. Then the interval of the
// speedup holds 1. If there are too few rounds for an interval, a round of the one took as long as
// a round of the other.
bool IsWithinNoise(const CaseResult& result, const CaseResult& baseline) {
  if (!AreTimed(result, baseline) || !result.speedup) return false;
  const auto& interval = result.speedup->interval;
  if (interval) return interval->first <= 1 && interval->second >= 1;
  const Spread &one = *result.seconds_per_iteration, &other = *baseline.seconds_per_iteration;
  return one.min <= other.max && other.min <= one.max;
}

std::string BreakEven(const CaseResult& result, const CaseResult& baseline) {
  if (!AreTimed(result, baseline) || &result == &baseline) return "";
  if (IsWithinNoise(result, baseline)) return "in noise";
  const auto step = BreakEvenStep(result.CostBeside(baseline), baseline.cost());
  return step ? FormatCount(*step) : "never";
}

// A case by itself is compared with nothing.
bool HasBaseline(const BenchResult& result) { return result.cases.size() > 1; }

bool HasIntervals(const BenchResult& result) {
  return std::any_of(result.cases.begin(), result.cases.end(),
                     [](const CaseResult& one) { return one.speedup && one.speedup->interval; });
}

// With `decimals`, or as many more as three significant digits take.
std::string Digits(double number, int decimals) {
  double scaled = number * std::pow(10, decimals);
  for (; scaled > 0 && scaled < 100 && decimals < 9; scaled *= 10) ++decimals;
  return fmt::format("{:.{}f}", number, decimals);
}

std::string MiB(int64_t bytes) { return Digits(static_cast<double>(bytes) / (1 << 20), 2); }

std::string Seconds(double seconds) { return Digits(seconds, 3); }

std::string Percent(double share) {
  const double percent = 100 * share;
  return fmt::format("{:.1f} %", std::abs(percent) < 0.05 ? 0 : percent);  // not "-0.0 %"
}

// The rounds of a quiet machine differ by less.
constexpr double kBusySpread = 1.5;

// If rounds of one case differ by much, something else had the processor.
std::string BusyNote(const CaseResult& baseline, bool has_intervals) {
  const auto& time = baseline.seconds_per_iteration;
  if (!time || time->max <= kBusySpread * time->min) return "";
  return fmt::format(
      "note: rounds of '{}' differ by a factor of {:.1f}, as on a busy machine: {}\n",
      baseline.name, time->max / time->min,
      has_intervals ? "trust the intervals" : "run it again on a quiet one");
}

// The case whose rounds say most of the machine: of cases that take turns the baseline, of others
// that whose rounds differ most.
const CaseResult& MostVaried(const BenchResult& result) {
  const auto spread = [](const CaseResult& one) {
    const auto& time = one.seconds_per_iteration;
    return time && time->min > 0 ? time->max / time->min : 0;
  };
  if (!result.isolated) return result.cases[0];
  return *std::max_element(
      result.cases.begin(), result.cases.end(),
      [&](const CaseResult& a, const CaseResult& b) { return spread(a) < spread(b); });
}

std::string Interval(const std::optional<Speedup>& speedup) {
  if (!speedup || !speedup->interval) return "";
  return fmt::format("{:.2f}–{:.2f}", speedup->interval->first, speedup->interval->second);
}

// The cells compare a case with the baseline.
std::vector<std::string> ComparedCells(const CaseResult& result, const BenchResult& whole) {
  const CaseResult& baseline = whole.cases[0];
  std::vector<std::string> cells = {
      &result == &baseline ? "" : Percent(ReductionOf(result, baseline)),
      result.speedup ? fmt::format("{:.3f} ×", result.speedup->median) : ""};
  if (HasIntervals(whole)) cells.push_back(Interval(result.speedup));
  cells.push_back(BreakEven(result, baseline));
  return cells;
}

void AddRow(TextTable& table, const CaseResult& result, const BenchResult& whole) {
  std::vector<std::string> cells = {result.name, FormatCount(result.batch), MiB(result.peak_bytes),
                                    MiB(result.reserved_bytes)};
  if (!result.fault.empty()) {
    cells.push_back("error");
    return table.Add(std::move(cells));
  }
  const auto& time = result.seconds_per_iteration;
  const auto add = [&](std::string text) { cells.push_back(std::move(text)); };
  add(time ? Seconds(time->median) : "");
  add(time ? Seconds(time->min) + "–" + Seconds(time->max) : "");
  add(time ? FormatSi(1 / time->median) : "");
  add(time ? FormatSi(static_cast<double>(result.batch) / time->median) : "");
  add(fmt::format("{:.3f}", result.build_seconds + result.first_step_seconds));
  if (HasBaseline(whole)) {
    for (std::string& cell : ComparedCells(result, whole)) add(std::move(cell));
  }
  table.Add(std::move(cells));
}

// Compares a case with the baseline. Null stands where nothing was measured to compare with.
void AddComparison(const CaseResult& result, const BenchResult& whole, Json& json) {
  const CaseResult& baseline = whole.cases[0];
  json["reduction"] = json["speedup"] = json["break_even_step"] = nullptr;
  if (!HasBaseline(whole)) return;
  json["reduction"] = ReductionOf(result, baseline);
  if (&result == &baseline && result.seconds_per_iteration) json["speedup"] = 1.0;
  if (result.speedup) json["speedup"] = result.speedup->median;
  if (result.speedup && result.speedup->interval) {
    json["speedup_interval"] = {result.speedup->interval->first, result.speedup->interval->second};
  }
  if (&result == &baseline || !AreTimed(result, baseline)) return;
  if (IsWithinNoise(result, baseline)) return;
  if (const auto step = BreakEvenStep(result.CostBeside(baseline), baseline.cost())) {
    json["break_even_step"] = *step;
  }
}

// Null stands for what was not measured.
Json CaseJson(const CaseResult& result, const BenchResult& whole) {
  Json json = {{"name", result.name},
               {"batch", result.batch},
               {"peak_bytes", result.peak_bytes},
               {"reserved_bytes", result.reserved_bytes},
               {"seconds_per_iteration", nullptr},
               {"samples_per_second", nullptr},
               {"allocations_after_first_step", nullptr}};
  if (const auto& time = result.seconds_per_iteration) {
    json["seconds_per_iteration"] = {
        {"median", time->median}, {"min", time->min}, {"max", time->max}};
    json["round_seconds"] = result.round_seconds;
    json["samples_per_second"] = static_cast<double>(result.batch) / time->median;
  }
  AddComparison(result, whole, json);
  json["build_seconds"] = result.build_seconds;
  json["first_step_seconds"] = result.first_step_seconds;
  if (result.allocations_after_first_step) {
    json["allocations_after_first_step"] = *result.allocations_after_first_step;
  }
  json["losses"] = result.losses;
  if (!result.fault.empty()) json["fault"] = result.fault;
  return json;
}

// Adds the gains of passes, if the benchmark measured them.
void AddPassGains(const BenchResult& result, Json& json) {
  for (const PassGain& gain : result.pass_gains) {
    Json& added = json["passes"].emplace_back(Json{
        {"name", gain.pass}, {"bytes", gain.bytes}, {"changes_nothing", gain.changes_nothing}});
    if (!gain.speedup) continue;
    added["speedup"] = gain.speedup->median;
    if (const auto& interval = gain.speedup->interval) {
      added["speedup_interval"] = {interval->first, interval->second};
    }
  }
}

std::string CasesTable(const BenchResult& result) {
  std::vector<std::string> head = {"case",      "batch", "memory MiB", "reserved", "time s/it",
                                   "min–max s", "it/s",  "samples/s",  "start s"};
  if (HasBaseline(result)) {
    head.insert(head.end(), {"reduction", "speedup"});
    if (HasIntervals(result)) head.push_back("95 %");
    head.push_back("break-even");
  }
  std::vector<Align> columns(head.size(), Align::kRight);
  columns[0] = Align::kLeft;
  TextTable table(columns);
  table.Add(head);
  table.AddRule();
  for (const CaseResult& one : result.cases) AddRow(table, one, result);
  return table.ToString();
}

std::string SpeedupNote(const BenchResult& result) {
  const std::string what = result.isolated ? "by the medians" : "the median of each round's own";
  if (!HasIntervals(result)) {
    return fmt::format("speedup: {}; an interval takes {} rounds;\n", what,
                       result.isolated ? kLeastRoundsApart : kLeastRoundsInTurns);
  }
  return "speedup: " + what + ", and an interval that holds it by 95 %" +
         (result.isolated ? ", but for what changed on the machine\nbetween the processes" : "") +
         ";\n";
}

// Explains the order in the names of the standard cases. The last case has the order that 'no
// passes' has too.
std::string OrdersNote(const BenchResult& result) {
  constexpr std::string_view kBegin = "graph, ";
  const bool standard = std::ranges::any_of(
      result.cases, [](const CaseResult& one) { return one.name == "graph, no passes"; });
  const std::string& last = result.cases.back().name;
  if (!standard || !last.starts_with(kBegin) || last == "graph, no passes") return "";
  return fmt::format(
      "graph: all passes, and operators in that order; no passes: in the order {};\n",
      last.substr(kBegin.size()));
}

std::string ComparisonNote(const BenchResult& result) {
  const CaseResult& baseline = result.cases[0];
  const bool noise = std::ranges::any_of(
      result.cases, [&](const CaseResult& one) { return IsWithinNoise(one, baseline); });
  return OrdersNote(result) + SpeedupNote(result) +
         fmt::format(
             "break-even: the step from which a run of that case has taken less time than "
             "'{}'{}.\n",
             baseline.name,
             !noise                 ? ""
             : HasIntervals(result) ? ";\nin noise: the interval holds 1, so that neither is "
                                      "known to be the faster one"
                                    : ";\nin noise: a round of the one took as long as a round of "
                                      "the other");
}

}  // namespace

std::string BenchText(const BenchResult& result) {
  std::string text = fmt::format(
      "{} of '{}' on device {} with {}: {} of {}, {}\n\n", result.infer ? "inference" : "training",
      result.model, result.device, FormatCount(result.threads, "thread"),
      FormatCount(result.rounds, "round"), FormatCount(result.steps_per_round, "step"),
      result.isolated ? "each case in a process of its own, one after another" : "taking turns");
  text += CasesTable(result) + "\n";
  text += "time: of one step, the median of the rounds;\n";
  text += fmt::format("memory: the most {}; start: building and the first step{}\n",
                      result.isolated
                          ? "that was resident of its process, all in all; reserved: for tensors"
                          : "in tensors and workspaces at once",
                      HasBaseline(result) ? ";" : ".");
  if (HasBaseline(result)) text += ComparisonNote(result);
  if (const std::string gains = PassGainsText(result); !gains.empty()) text += "\n" + gains;
  text += BusyNote(MostVaried(result), HasIntervals(result) && !result.isolated);
  if (result.cases[0].losses.empty()) text += "The model has no loss: no losses were compared.\n";
  for (const CaseResult& one : result.cases) {
    if (!one.fault.empty()) text += fmt::format("error: '{}': {}\n", one.name, one.fault);
  }
  for (const LeftOutCase& one : result.left_out) {
    text += fmt::format("note: '{}' is left out: {}\n", one.name, one.reason);
  }
  return text;
}

std::string BenchJson(const BenchResult& result, const CaseProfiles& profiles) {
  Json json = {{"model", result.model},
               {"device", result.device},
               {"mode", result.infer ? "infer" : "train"},
               {"threads", result.threads},
               {"rounds", result.rounds},
               {"steps_per_round", result.steps_per_round},
               {"isolated", result.isolated},
               {"cases", Json::array()}};
  for (const CaseResult& one : result.cases) {
    Json& added = json["cases"].emplace_back(CaseJson(one, result));
    const auto profile = profiles.find(one.name);
    if (profile != profiles.end()) added["profile"] = ParseOrderedJson(profile->second);
  }
  for (const LeftOutCase& one : result.left_out) {
    json["left_out"].push_back({{"name", one.name}, {"reason", one.reason}});
  }
  AddPassGains(result, json);
  return JsonText(json, 2) + "\n";
}

BenchResult CaseFromJson(const std::string& text) {
  try {
    const Json whole = ParseOrderedJson(text);
    const Json& json = whole.at("cases").at(0);
    CaseResult result;
    result.name = json.at("name");
    result.batch = json.at("batch");
    result.peak_bytes = json.at("peak_bytes");
    result.reserved_bytes = json.at("reserved_bytes");
    if (const Json& time = json.at("seconds_per_iteration"); !time.is_null()) {
      result.seconds_per_iteration = Spread{time.at("median"), time.at("min"), time.at("max")};
    }
    result.build_seconds = json.at("build_seconds");
    result.first_step_seconds = json.at("first_step_seconds");
    if (const Json& count = json.at("allocations_after_first_step"); !count.is_null()) {
      result.allocations_after_first_step = count.get<int64_t>();
    }
    if (json.contains("round_seconds")) {
      result.round_seconds = json.at("round_seconds").get<std::vector<double>>();
    }
    for (const Json& loss : json.at("losses")) {
      result.losses.push_back(loss.is_null() ? std::nan("") : loss.get<double>());
    }
    result.fault = json.value("fault", "");
    BenchResult bench;
    bench.steps_per_round = whole.at("steps_per_round");
    bench.rounds = whole.at("rounds");
    bench.cases.push_back(std::move(result));
    return bench;
  } catch (const nlohmann::json::exception& error) {
    throw UserError("a case of the benchmark left no result", error.what());
  }
}

}  // namespace cgrun
