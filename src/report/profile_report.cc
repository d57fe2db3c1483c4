// Sums over operators, as tables and as JSON.
#include "src/report/profile_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <ranges>

#include "src/base/json_text.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kSlowest = 20;         // operators that stand in the full report
constexpr double kOverheadBelow = 0.1;  // of both ceilings
constexpr double kNanosecond = 1e-9;

// Adds up the costs of several operators.
struct Sum {
  int64_t operators = 0;
  int64_t calls = 0;
  double seconds = 0;
  double flops = 0;
  double bytes = 0;
  bool fewer_operations = false;  // some take fewer than are counted

  void Add(const OperatorProfile& profile) {
    const auto times = static_cast<double>(profile.time.calls);
    operators += 1;
    calls += profile.time.calls;
    seconds += static_cast<double>(profile.time.nanoseconds) * kNanosecond;
    flops += static_cast<double>(profile.flops) * times;
    bytes += static_cast<double>(profile.bytes) * times;
    fewer_operations |= profile.fewer_operations;
  }
  double flops_per_second() const { return seconds > 0 ? flops / seconds : 0; }
  double bytes_per_second() const { return seconds > 0 ? bytes / seconds : 0; }
};

struct Named {
  std::string name;
  Sum sum;
};

// Runs of the entry point: an operator runs once in each, or never.
int64_t RunsOf(const EntryProfile& entry) {
  int64_t runs = 0;
  for (const OperatorProfile& profile : entry.operators) {
    runs = std::max(runs, profile.time.calls);
  }
  return runs;
}

bool Ran(const OperatorProfile& profile) { return profile.time.calls > 0; }

template <class Key>
std::vector<Named> SumsBy(const EntryProfile& entry, Key key) {
  std::map<std::string, Sum> sums;
  for (const OperatorProfile& profile : entry.operators | std::views::filter(Ran)) {
    sums[key(profile)].Add(profile);
  }
  std::vector<Named> named;
  for (const auto& [name, sum] : sums) named.push_back({name, sum});
  std::stable_sort(named.begin(), named.end(),
                   [](const Named& a, const Named& b) { return a.sum.seconds > b.sum.seconds; });
  return named;
}

std::vector<Named> Operators(const EntryProfile& entry) {
  std::vector<Named> named;
  for (const OperatorProfile& profile : entry.operators | std::views::filter(Ran)) {
    named.push_back({profile.name + " (" + profile.kernel + ")", {}});
    named.back().sum.Add(profile);
  }
  std::stable_sort(named.begin(), named.end(),
                   [](const Named& a, const Named& b) { return a.sum.seconds > b.sum.seconds; });
  return named;
}

Sum Total(const EntryProfile& entry) {
  Sum total;
  for (const OperatorProfile& profile : entry.operators) total.Add(profile);
  return total;
}

std::string_view NameOf(Bound bound) {
  constexpr std::string_view kNames[] = {"compute", "memory", "overhead"};
  return kNames[static_cast<size_t>(bound)];
}

std::string ShareText(double share) { return fmt::format("{:.1f} %", 100 * share); }

// Beyond a ceiling as it is shown, in whole percent.
bool Exceeds(double rate, double ceiling) {
  return ceiling > 0 && std::round(100 * rate / ceiling) > 100;
}

// "45.6 (31 %)": a rate in units of 10⁹ a second, and its share of the ceiling; with a mark where
// that is exceeded.
std::string RateText(double rate, double ceiling) {
  const std::string number = fmt::format("{:.3g}", rate * 1e-9);
  if (ceiling <= 0) return number;
  return fmt::format("{} ({:.0f} %{})", number, 100 * rate / ceiling,
                     Exceeds(rate, ceiling) ? "*" : "");
}

struct Exceeded {
  bool flops = false;
  bool bytes = false;
  bool transformed = false;  // there are kernels that take fewer operations than are counted

  void Add(std::span<const Named> rows, const Ceilings& ceilings) {
    for (const Named& row : rows) {
      transformed |= row.sum.fewer_operations;
      flops |= Exceeds(row.sum.flops_per_second(), ceilings.flops_per_second);
      bytes |= Exceeds(row.sum.bytes_per_second(), ceilings.bytes_per_second);
    }
  }
};

// Explains why a share is more than 100 %.
std::string ExceededText(const Exceeded& exceeded) {
  std::string text;
  if (exceeded.bytes) {
    text += "  * Bytes beyond the peak of the memory come from the caches.\n";
  }
  if (exceeded.flops && exceeded.transformed) {
    text +=
        "  * Operations are counted as those of the definition; Winograd's algorithm takes a "
        "quarter of "
        "its\n    multiplications.\n";
  } else if (exceeded.flops) {
    text +=
        "  * Operations beyond the peak: the machine was busier while the peak was measured than "
        "in the run,\n    so that all shares are too high. Run it again on a quiet machine.\n";
  }
  return text;
}

std::string SumsTable(const std::string& head, const std::vector<Named>& rows, const Sum& total,
                      int64_t runs, const Ceilings& ceilings) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kLeft});
  const bool has_peaks = ceilings.flops_per_second > 0;
  table.Add(
      {head, "operators", "ms a run", "share", "GFLOP/s", "GB/s", has_peaks ? "bound by" : ""});
  table.AddRule();
  for (const auto& [name, sum] : rows) {
    const double flops = sum.flops_per_second(), bytes = sum.bytes_per_second();
    table.Add({name, FormatCount(sum.operators),
               fmt::format("{:.3f}", sum.seconds * 1e3 / static_cast<double>(runs)),
               ShareText(total.seconds > 0 ? sum.seconds / total.seconds : 0),
               RateText(flops, ceilings.flops_per_second),
               RateText(bytes, ceilings.bytes_per_second),
               has_peaks ? std::string(NameOf(BoundOf(flops, bytes, ceilings))) : ""});
  }
  return table.ToString("  ");
}

std::string EntryText(const EntryProfile& entry, const Ceilings& ceilings, bool full,
                      Exceeded& exceeded) {
  const int64_t runs = RunsOf(entry);
  const Sum total = Total(entry);
  std::string text = fmt::format("profile of '{}': batch {}, {}, {:.3f} ms a run in operators\n",
                                 entry.name, entry.batch, FormatCount(runs, "run"),
                                 total.seconds * 1e3 / static_cast<double>(runs));
  const auto add = [&](const std::string& head, std::vector<Named> rows) {
    exceeded.Add(rows, ceilings);
    text += SumsTable(head, rows, total, runs, ceilings);
  };
  add("phase", SumsBy(entry, [](const OperatorProfile& p) { return std::string(Name(p.phase)); }));
  text += "\n";
  add("kernel", SumsBy(entry, [](const OperatorProfile& p) { return p.kernel; }));
  if (!full) return text;
  text += "\n";
  std::vector<Named> slowest = Operators(entry);
  slowest.resize(std::min(slowest.size(), kSlowest));
  add("slowest operators", std::move(slowest));
  return text;
}

// "train.15", where 'train' ran too: the same operators, once in a pass over the data.
bool IsLastBatch(const EntryProfile& entry, std::span<const EntryProfile> entries) {
  const size_t dot = entry.name.rfind('.');
  return dot != std::string::npos && std::ranges::any_of(entries, [&](const EntryProfile& other) {
           return other.name == entry.name.substr(0, dot) && RunsOf(other) > 0;
         });
}

Json OperatorJson(const OperatorProfile& profile, const Ceilings& ceilings) {
  Sum sum;
  sum.Add(profile);
  const double flops = sum.flops_per_second(), bytes = sum.bytes_per_second();
  return {{"name", profile.name},         {"kernel", profile.kernel},
          {"phase", Name(profile.phase)}, {"calls", profile.time.calls},
          {"seconds", sum.seconds},       {"flops", profile.flops},
          {"bytes", profile.bytes},       {"flops_per_second", flops},
          {"bytes_per_second", bytes},    {"bound", NameOf(BoundOf(flops, bytes, ceilings))}};
}

}  // namespace

Bound BoundOf(double flops_per_second, double bytes_per_second, const Ceilings& ceilings) {
  const auto share = [](double rate, double ceiling) { return ceiling > 0 ? rate / ceiling : 0; };
  const double compute = share(flops_per_second, ceilings.flops_per_second);
  const double memory = share(bytes_per_second, ceilings.bytes_per_second);
  if (std::max(compute, memory) < kOverheadBelow) return Bound::kOverhead;
  return compute > memory ? Bound::kCompute : Bound::kMemory;
}

std::string ProfileText(std::span<const EntryProfile> entries, const Ceilings& ceilings,
                        bool full) {
  std::string text;
  std::vector<std::string> left_out;
  Exceeded exceeded;
  for (const EntryProfile& entry : entries) {
    if (RunsOf(entry) == 0) continue;
    if (IsLastBatch(entry, entries)) {
      left_out.push_back(entry.name);
    } else {
      text += EntryText(entry, ceilings, full, exceeded) + "\n";
    }
  }
  if (!left_out.empty()) {
    text += fmt::format(
        "  Left out: {}, for the last batch of a pass over the data; --json and a trace have them, "
        "too.\n",
        fmt::join(left_out, ", "));
  }
  if (ceilings.flops_per_second > 0) {
    text += fmt::format(
        "  Shares in brackets are of this machine's peaks with {}: {:.3g} GFLOP/s (f32), "
        "{:.3g} GB/s.\n",
        FormatCount(ceilings.threads, "thread"), ceilings.flops_per_second * 1e-9,
        ceilings.bytes_per_second * 1e-9);
    text += fmt::format(
        "  bound by: the peak that the rate comes nearer to, of compute or memory; overhead: below "
        "{:.0f} % of both, as where\n    the time goes into starting kernels, or waiting for other "
        "threads.\n",
        100 * kOverheadBelow);
  }
  return text + ExceededText(exceeded);
}

std::string ProfileJson(std::span<const EntryProfile> entries, const Ceilings& ceilings) {
  Json json;
  json["peaks"] = {{"threads", ceilings.threads},
                   {"flops_per_second", ceilings.flops_per_second},
                   {"bytes_per_second", ceilings.bytes_per_second}};
  Exceeded exceeded;
  for (const EntryProfile& entry : entries) exceeded.Add(Operators(entry), ceilings);
  json["exceeded"] = {{"flops", exceeded.flops}, {"bytes", exceeded.bytes}};
  json["entries"] = Json::array();
  for (const EntryProfile& entry : entries) {
    if (RunsOf(entry) == 0) continue;
    Json operators = Json::array();
    for (const OperatorProfile& profile : entry.operators | std::views::filter(Ran)) {
      operators.push_back(OperatorJson(profile, ceilings));
    }
    json["entries"].push_back({{"name", entry.name},
                               {"batch", entry.batch},
                               {"runs", RunsOf(entry)},
                               {"seconds", Total(entry).seconds},
                               {"operators", std::move(operators)}});
  }
  return JsonText(json, 2) + "\n";
}

std::string TraceJson(std::span<const EntryProfile> entries, std::span<const OperatorRun> runs) {
  constexpr double kMicrosecond = 1e-3;  // of nanoseconds
  Json events = Json::array();
  for (const OperatorRun& run : runs) {
    const EntryProfile& entry = entries[static_cast<size_t>(run.entry)];
    const OperatorProfile& profile = entry.operators[static_cast<size_t>(run.index)];
    events.push_back({{"name", profile.name},
                      {"cat", Name(profile.phase)},
                      {"ph", "X"},
                      {"ts", static_cast<double>(run.begin) * kMicrosecond},
                      {"dur", static_cast<double>(run.end - run.begin) * kMicrosecond},
                      {"pid", 0},
                      {"tid", 0},
                      {"args",
                       {{"entry", entry.name},
                        {"kernel", profile.kernel},
                        {"flops", profile.flops},
                        {"bytes", profile.bytes}}}});
  }
  return JsonText(Json{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}}) + "\n";
}

}  // namespace cgrun
