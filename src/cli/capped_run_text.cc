// Makes the sentences about runs under a cap.
#include "src/cli/capped_run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>

#include "src/fit/run_limit.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr size_t kTableWidth = 110;
constexpr const char* kIndent = "      ";  // of lines under an error's first, and under `help: `

// Returns whether operators run one by one that run side by side without the cap.
bool LacksStreams(const CappedRun& fit) {
  return fit.free.in_streams > 0 && fit.capped.in_streams == 0;
}

// Returns whether that is all that makes it less.
bool LacksStreamsAlone(const CappedRun& fit) {
  return LacksStreams(fit) && fit.capped.memory.arena + kBaseNoise >= fit.free.memory.arena;
}

std::string DataPartsOf(const HostUse& use) {
  std::vector<std::string> parts;
  const auto add = [&](int64_t bytes, const char* what) {
    if (bytes != 0) parts.push_back(fmt::format("{} {}", what, FormatBytes(bytes)));
  };
  add(use.decoded, "decoded data");
  add(use.loaders, "buffers of the loaders");
  add(use.states, "state copy");
  add(use.kept, "kept values");
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Heads the column of the smallest plan that was found.
const char* HeadOf(const CappedRun& fit) {
  const PlannedRun& run = fit.capped;
  if (LacksStreamsAlone(fit)) return "one by one";
  if (run.single_threaded > 0) return "with less";
  return run.swaps > 0 ? "recomputed or swapped" : "recomputed";
}

// The memory of each part: as planned, and, if that is less, at its smallest.
std::string TableOf(const CappedRun& fit) {
  const bool helps = TakesLess(fit);
  std::vector<Align> columns = {Align::kLeft, Align::kRight};
  if (helps) columns.push_back(Align::kRight);
  columns.push_back(Align::kLeft);
  TextTable table(columns);
  const auto add = [&](const char* name, const std::string& plain, const std::string& again,
                       const std::string& what) {
    std::vector<std::string> row = {name, plain};
    if (helps) row.push_back(again);
    row.push_back(what);
    table.Add(row);
  };
  const RunMemory &plain = fit.free.memory, &again = fit.capped.memory;
  if (helps) add("", "as it is", HeadOf(fit), "");
  add("arena", FormatBytes(plain.arena), FormatBytes(again.arena),
      "most is held by " + HoldersOf(fit.capped));
  if (plain.on_host && std::max(plain.start, again.start) > again.host()) {
    add("start", FormatBytes(plain.start), FormatBytes(again.start),
        "for reading and compiling, before the arena is there");
  }
  if (plain.on_host) {
    add("data", FormatBytes(plain.data), FormatBytes(again.data), DataPartsOf(again.parts));
    add("base", FormatBytes(plain.base), FormatBytes(again.base),
        "the process itself, without its arena and data");
  }
  add("total", FormatBytes(fit.free.total()), FormatBytes(fit.capped.total()), "");
  if (helps && !LacksStreamsAlone(fit)) {
    add("a step", "100 %", fmt::format("{:.0f} %", 100 + 100 * fit.slower()),
        "of its time, at most");
  }
  return table.ToString(kIndent, kTableWidth);
}

std::string WithoutLineEnd(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// "what a quick search recomputes or swaps": a search for the cap itself may find less, and
// mostly finds quicker steps. "operators one by one": only streams are left out.
std::string WhatHelps(const CappedRun& fit) {
  if (LacksStreamsAlone(fit)) return "operators one by one";
  const std::string search = fit.effort == PlanEffort::kQuick ? "a quick search" : "a search";
  std::vector<std::string> ways;
  if (fit.capped.recomputations > 0 || fit.capped.single_threaded + fit.capped.swaps == 0) {
    ways.emplace_back("recomputes");
  }
  if (fit.capped.swaps > 0) ways.emplace_back("swaps");
  std::string text;
  if (!ways.empty()) text = fmt::format("what {} {}", search, fmt::join(ways, " or "));
  if (fit.capped.single_threaded == 0) return text;
  return text + (text.empty() ? "" : " and with ") + "fewer threads for some operators";
}

// "a file of 52.0 MiB"
std::string SwapPlaceText(bool to_host, int64_t bytes) {
  return to_host ? FormatBytes(bytes) + " of host memory" : "a file of " + FormatBytes(bytes);
}

// "2 operators of a step run a second time, 1 tensor is swapped to a file of 52.0 MiB"; nothing
// where all is as it is without the cap.
std::string HowText(const CappedRun& fit) {
  const PlannedRun& run = fit.capped;
  const bool lacks_streams = LacksStreams(fit);
  if (fit.arena_cap == 0) return lacks_streams ? "no operators run side by side" : "";
  std::vector<std::string> ways;
  const auto add = [&](int64_t count, std::string_view noun, const std::string& one,
                       const std::string& more) {
    if (count != 0) ways.push_back(FormatCount(count, noun) + (count == 1 ? one : more));
  };
  add(run.recomputations, "operator", " of a step runs a second time",
      " of a step run a second time");
  const std::string place = " swapped to " + SwapPlaceText(!run.memory.on_host, run.swap_bytes);
  add(run.swaps, "tensor", " is" + place, " are" + place);
  const std::string why = " on one thread, in a smaller workspace";
  add(run.single_threaded, "operator", " works" + why, " work" + why);
  if (lacks_streams) ways.push_back("no operators run side by side, which the time leaves out");
  return fmt::format("{}", fmt::join(ways, ", "));
}

// "; steps take about 2.1 % longer"; nothing where the arena is as it is.
std::string TimeText(const CappedRun& fit) {
  if (fit.arena_cap == 0) return "";
  const double percent = 100 * fit.slower();
  return "; steps take about " + (percent <= -0.05 ? fmt::format("{:.1f} % less time", -percent)
                                                   : LongerText(fit.slower()));
}

}  // namespace

bool TakesLess(const CappedRun& fit) {
  const bool is_less =
      fit.capped.memory.arena + kBaseNoise < fit.free.memory.arena ||
      (LacksStreams(fit) && fit.capped.memory.base + kBaseNoise < fit.free.memory.base);
  return is_less && fit.capped.total() < fit.free.total() &&
         LeastCap(fit.capped.total()) != LeastCap(fit.free.total());
}

std::string CostOf(double slower) {
  const int64_t percent = std::llround(100 * std::max(0.0, slower));
  if (percent == 0) return "for steps that take hardly longer";
  return fmt::format("for steps that take at most {} % longer", percent);
}

std::string CostOf(const CappedRun& fit) {
  return LacksStreamsAlone(fit) ? "with operators one by one" : CostOf(fit.slower());
}

std::string HoldersOf(const PlannedRun& run) { return HoldersText(run.at_peak, FormatBytes); }

std::string RefusalOf(const std::string& what, const CappedRun& fit, const std::string& limit) {
  const std::vector<std::string> texts =
      FormatBytesUnder(fit.cap, {fit.free.total(), fit.capped.total()});
  const bool helps = TakesLess(fit);
  std::string text = fmt::format("{} {}", what, texts[1]);
  if (helps) text += fmt::format(", or {} with {}", texts[2], WhatHelps(fit));
  text += ", more than " + limit + " " + texts[0];
  if (!helps) text += "; recomputing more, as far as it was tried, takes no less";
  return WithoutLineEnd(text + "\n" + TableOf(fit));
}

std::string LinesOf(const std::vector<std::string>& lines) {
  const auto is_there = [](const std::string& line) { return !line.empty(); };
  return fmt::format("{}",
                     fmt::join(lines | std::views::filter(is_there), "\n" + std::string(kIndent)));
}

std::string FitText(const CappedRun& fit) {
  const auto texts = FormatBytesUnder(fit.cap, {fit.free.total(), fit.capped.total()});
  const std::string spare = FormatBytes(fit.cap - fit.capped.total()) + " to spare";
  const std::string how = HowText(fit);
  if (how.empty()) {
    return fmt::format("cap: the run takes {} of the {} that it may, {}: the cap costs nothing",
                       texts[2], texts[0], spare);
  }
  return fmt::format("cap: {} of {}, instead of {}: {}{}; {}", texts[2], texts[0], texts[1], how,
                     TimeText(fit), spare);
}

}  // namespace cgrun
