// The benchmark as a table and as JSON.
#include "src/cli/bench_view.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "src/base/diagnostics.h"
#include "src/cli/console.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

using Json = nlohmann::ordered_json;

double ReductionOf(const CaseResult& result, const CaseResult& baseline) {
  if (baseline.peak_bytes <= 0) return 0;
  return 1 - static_cast<double>(result.peak_bytes) / static_cast<double>(baseline.peak_bytes);
}

// The step from which on a run of this case has taken less time than one of the baseline.
std::string BreakEven(const CaseResult& result, const CaseResult& baseline) {
  if (!result.seconds_per_iteration || &result == &baseline) return "";
  const double gain = baseline.seconds_per_iteration->median - result.seconds_per_iteration->median;
  const double later = result.start_seconds() - baseline.start_seconds();
  if (later <= 0) return gain >= 0 ? "1" : "";
  if (gain <= 0) return "never";
  return FormatCount(static_cast<int64_t>(std::ceil(later / gain)) + 1);
}

std::string MiB(int64_t bytes) {
  return fmt::format("{:.2f}", static_cast<double>(bytes) / (1 << 20));
}

// The rounds of a quiet machine differ by less.
constexpr double kBusySpread = 1.5;

// Where rounds of one case differ by much, something else had the processor.
std::string BusyNote(const CaseResult& baseline, bool isolated) {
  const auto& time = baseline.seconds_per_iteration;
  if (!time || time->max <= kBusySpread * time->min) return "";
  return fmt::format(
      "note: rounds of '{}' differ by a factor of {:.1f}, as on a busy machine: {}\n",
      baseline.name, time->max / time->min,
      isolated ? "run it again on a quiet one" : "trust the intervals");
}

void AddRow(TextTable& table, const CaseResult& result, const CaseResult& baseline) {
  std::vector<std::string> cells = {result.name, FormatCount(result.batch), MiB(result.peak_bytes),
                                    MiB(result.reserved_bytes)};
  if (!result.fault.empty()) {
    cells.insert(cells.end(), {"error", "", "", "", "", "", "", "", ""});
    return table.Add(std::move(cells));
  }
  const bool first = &result == &baseline;
  const auto& speedup = result.speedup;
  const auto& time = result.seconds_per_iteration;
  const auto add = [&](std::string text) { cells.push_back(std::move(text)); };
  add(time ? fmt::format("{:.3f}", time->median * 1e3) : "");
  add(time ? fmt::format("{:.3f}–{:.3f}", time->min * 1e3, time->max * 1e3) : "");
  add(time ? fmt::format("{:.4g}", 1 / time->median) : "");
  add(time ? FormatSi(static_cast<double>(result.batch) / time->median) : "");
  add(first ? "" : fmt::format("{:.1f} %", 100 * ReductionOf(result, baseline)));
  add(speedup ? fmt::format("{:.3f} ×", speedup->median) : "");
  const bool interval = speedup && speedup->interval;
  add(interval ? fmt::format("{:.2f}–{:.2f}", speedup->interval->first, speedup->interval->second)
               : "");
  add(fmt::format("{:.3f}", result.start_seconds()));
  add(BreakEven(result, baseline));
  table.Add(std::move(cells));
}

Json CaseJson(const CaseResult& result, const CaseResult& baseline) {
  Json json = {{"name", result.name},
               {"batch", result.batch},
               {"peak_bytes", result.peak_bytes},
               {"reserved_bytes", result.reserved_bytes}};
  if (const auto& time = result.seconds_per_iteration) {
    json["seconds_per_iteration"] = {
        {"median", time->median}, {"min", time->min}, {"max", time->max}};
    json["round_seconds"] = result.round_seconds;
    json["samples_per_second"] = static_cast<double>(result.batch) / time->median;
  }
  json["reduction"] = ReductionOf(result, baseline);
  if (&result == &baseline && result.seconds_per_iteration) json["speedup"] = 1.0;
  if (result.speedup) json["speedup"] = result.speedup->median;
  if (result.speedup && result.speedup->interval) {
    json["speedup_interval"] = {result.speedup->interval->first, result.speedup->interval->second};
  }
  json["build_seconds"] = result.build_seconds;
  json["first_step_seconds"] = result.first_step_seconds;
  if (result.allocations_after_first_step) {
    json["allocations_after_first_step"] = *result.allocations_after_first_step;
  }
  json["losses"] = result.losses;
  if (!result.fault.empty()) json["fault"] = result.fault;
  return json;
}

}  // namespace

BenchView::BenchView(const ProfileFlags& profile, int threads)
    : profile_(profile),
      threads_(threads),
      progress_(stderr, isatty(STDERR_FILENO) != 0, ColorOnStderr()),
      quiet_(Quiet()) {}

void BenchView::OnCase(const std::string& name, int64_t done, int64_t total) {
  if (quiet_) return;
  if (done == 0) begin_ = std::chrono::steady_clock::now();
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
  Progress progress;
  progress.label = name.c_str();
  progress.done = done;
  progress.total = total;
  progress.samples_per_second = -1;
  if (done > 0) {
    progress.eta_seconds =
        since.count() / static_cast<double>(done) * static_cast<double>(total - done);
  }
  progress_.Show(progress);
}

void BenchView::OnProfile(const std::string& name, const Engine& engine,
                          const OperatorTimes& times) {
  if (!ceilings_) ceilings_ = MeasureCeilings(engine, threads_);
  profiles_ += "\n" + name + "\n" + ShowProfile(profile_, engine, times, *ceilings_);
  if (WantsJson()) objects_[name] = ProfileObject(engine, times, *ceilings_);
}

std::string BenchText(const BenchResult& result) {
  std::string text = fmt::format(
      "{} of '{}' on device {} with {} thread{}: {} round{} of {} step{}, {}\n\n",
      result.infer ? "inference" : "training", result.model, result.device, result.threads,
      result.threads == 1 ? "" : "s", result.rounds, result.rounds == 1 ? "" : "s",
      FormatCount(result.steps_per_round), result.steps_per_round == 1 ? "" : "s",
      result.isolated ? "each case in a process of its own, one after another" : "taking turns");
  std::vector<Align> columns(13, Align::kRight);
  columns[0] = Align::kLeft;
  TextTable table(columns);
  table.Add({"case", "batch", "memory MiB", "reserved", "ms/it", "min–max", "it/s", "samples/s",
             "reduction", "speedup", "95 %", "start s", "break-even"});
  table.AddRule();
  for (const CaseResult& one : result.cases) AddRow(table, one, result.cases[0]);
  text += table.ToString() + "\n";
  text += fmt::format(
      "memory: the most {}; start: building and the first step;\n"
      "{}"
      "break-even: the step from which a run of that case has taken less time than '{}'.\n",
      result.isolated ? "that was resident of its process, all in all; reserved: for tensors"
                      : "in tensors and workspaces at once",
      result.isolated ? "speedup: by the medians; "
                      : "speedup: the median over rounds, and an interval that holds it by 95 %;\n",
      result.cases[0].name);
  text += BusyNote(result.cases[0], result.isolated);
  if (result.cases[0].losses.empty()) text += "The model has no loss: no losses were compared.\n";
  for (const CaseResult& one : result.cases) {
    if (!one.fault.empty()) text += fmt::format("error: '{}': {}\n", one.name, one.fault);
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
    Json& added = json["cases"].emplace_back(CaseJson(one, result.cases[0]));
    const auto profile = profiles.find(one.name);
    if (profile != profiles.end()) added["profile"] = Json::parse(profile->second);
  }
  return json.dump(2) + "\n";
}

BenchResult CaseFromJson(const std::string& text) {
  try {
    const Json whole = Json::parse(text);
    const Json& json = whole.at("cases").at(0);
    CaseResult result;
    result.name = json.at("name");
    result.batch = json.at("batch");
    result.peak_bytes = json.at("peak_bytes");
    result.reserved_bytes = json.at("reserved_bytes");
    if (json.contains("seconds_per_iteration")) {
      const Json& time = json["seconds_per_iteration"];
      result.seconds_per_iteration = Spread{time.at("median"), time.at("min"), time.at("max")};
    }
    result.build_seconds = json.at("build_seconds");
    result.first_step_seconds = json.at("first_step_seconds");
    if (json.contains("allocations_after_first_step")) {
      result.allocations_after_first_step = json["allocations_after_first_step"].get<int64_t>();
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
