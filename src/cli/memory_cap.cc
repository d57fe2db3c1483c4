// The sentences about a cap.
#include "src/cli/memory_cap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/cli/console.h"
#include "src/cli/swap_place.h"
#include "src/compile/recompute.h"
#include "src/device/device.h"
#include "src/report/table.h"
#include "src/train/accumulation.h"
#include "src/train/fit_run.h"
#include "src/train/smaller_batch.h"

namespace cgrun {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr size_t kTableWidth = 110;
constexpr const char* kIndent = "      ";  // of lines under an error's first, and under `help: `

// The smallest cap, in tenths of a MiB and from 100 MiB on in whole ones, with which this run fits.
std::string EnoughFor(const PlannedRun& run) {
  const int64_t bytes = run.total();
  const int64_t whole = (bytes + kMiB - 1) / kMiB;
  if (whole >= 100) return fmt::format("`--memory {}MiB`", whole);
  const int64_t tenths = (10 * bytes + kMiB - 1) / kMiB;
  return fmt::format("`--memory {}.{}MiB`", tenths / 10, tenths % 10);
}

// Whether operators run one by one that run side by side without the cap.
bool LacksLanes(const CappedRun& fit) {
  return fit.free.side_by_side > 0 && fit.capped.side_by_side == 0;
}

// Whether that is all that makes it less.
bool LacksLanesAlone(const CappedRun& fit) {
  return LacksLanes(fit) && fit.capped.memory.arena + kBaseNoise >= fit.free.memory.arena;
}

// Whether a smaller cap is enough for what was found, by more than measured bases differ: by a
// smaller arena, or for want of lanes.
bool TakesLess(const CappedRun& fit) {
  const bool is_less =
      fit.capped.memory.arena + kBaseNoise < fit.free.memory.arena ||
      (LacksLanes(fit) && fit.capped.memory.base + kBaseNoise < fit.free.memory.base);
  return is_less && fit.capped.total() < fit.free.total() &&
         EnoughFor(fit.capped) != EnoughFor(fit.free);
}

// "for steps that take at most 18 % longer": what it costs to compute again, or to swap.
std::string CostOf(double slower) {
  const int64_t percent = std::llround(100 * std::max(0.0, slower));
  if (percent == 0) return "for steps that take hardly longer";
  return fmt::format("for steps that take at most {} % longer", percent);
}

// The same for what a cap would cost; no estimate says what lanes are worth.
std::string CostOf(const CappedRun& fit) {
  return LacksLanesAlone(fit) ? "with operators one by one" : CostOf(fit.slower());
}

std::string HoldersOf(const PlannedRun& run) {
  std::string text;
  for (const PeakHolder& holder : run.at_peak) {
    text += (text.empty() ? "" : ", ") + holder.name + " " + FormatBytes(holder.bytes);
  }
  return text;
}

std::string DataPartsOf(const HostUse& use) {
  std::string text;
  const auto add = [&](int64_t bytes, const char* what) {
    if (bytes == 0) return;
    text += (text.empty() ? "" : ", ") + std::string(what) + " " + FormatBytes(bytes);
  };
  add(use.decoded, "decoded data");
  add(use.loaders, "buffers of the loaders");
  add(use.checkpoints, "copies for checkpoints");
  add(use.kept, "what is kept");
  add(use.opening, "reading the data");
  return text;
}

// Of what takes as little as was found.
const char* HeadOf(const CappedRun& fit) {
  const PlannedRun& run = fit.capped;
  if (LacksLanesAlone(fit)) return "one by one";
  if (run.alone > 0) return "with less";
  return run.swaps > 0 ? "again or swapped" : "computed again";
}

// What takes how much, as it is and, where that is less, as little as was found.
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
  if (plain.on_host) {
    add("data", FormatBytes(plain.data), FormatBytes(again.data), DataPartsOf(again.parts));
    add("base", FormatBytes(plain.base), FormatBytes(again.base),
        "the process itself, without its arena and data");
  }
  add("total", FormatBytes(fit.free.total()), FormatBytes(fit.capped.total()), "");
  if (helps && !LacksLanesAlone(fit)) {
    add("a step", "100 %", fmt::format("{:.0f} %", 100 + 100 * fit.slower()),
        "of its time, at most");
  }
  return table.ToString(kIndent, kTableWidth);
}

std::string WithoutLineEnd(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// "what a quick search computes again or swaps": one for the cap itself may find less, and mostly
// finds quicker steps. "operators one by one": lanes alone are left out.
std::string WhatHelps(const CappedRun& fit) {
  if (LacksLanesAlone(fit)) return "operators one by one";
  const std::string search = fit.effort == PlanEffort::kQuick ? "a quick search" : "a search";
  std::vector<std::string> ways;
  if (fit.capped.second_runs > 0 || fit.capped.alone + fit.capped.swaps == 0) {
    ways.emplace_back("computes again");
  }
  if (fit.capped.swaps > 0) ways.emplace_back("swaps");
  if (fit.capped.alone > 0) ways.emplace_back("has work on one thread");
  return "what " + search + " " + fmt::format("{}", fmt::join(ways, " or "));
}

// "the run takes 12.6 MiB, more than the cap of 8.00 MiB", and a table.
std::string RefusalOf(const std::string& what, const CappedRun& fit, bool is_asked_for) {
  const std::vector<std::string> texts =
      FormatBytesUnder(fit.cap, {fit.free.total(), fit.capped.total()});
  const bool helps = TakesLess(fit);
  std::string text = fmt::format("{} {}", what, texts[1]);
  if (helps) text += fmt::format(", or {} with {}", texts[2], WhatHelps(fit));
  text += is_asked_for ? ", more than the cap of " + texts[0]
                       : ", more than the " + texts[0] + " that are free";
  if (!helps) text += "; computing more again, as far as it was tried, takes no less";
  return WithoutLineEnd(text + "\n" + TableOf(fit));
}

// Of what does not grow with the batch, with nothing left for what is measured otherwise.
int64_t LeastWithoutSamples(const PlannedRun& run) {
  return BytesWithoutSamples(run) - run.memory.base_room;
}

// Begins to look for a smaller batch for a run that does not fit as it is, before it is known
// whether it fits otherwise: mostly it does not, or soon does. Not where the rest is too much for
// the cap already, nor where data would be held twice that are a large part of it.
void BeginSmallerBatch(const ModelSpec& model, const KernelLibrary& library,
                       const CompileOptions& options, PlannedRun free, int64_t cap,
                       std::optional<SmallerBatch>& smaller) {
  SetRoom(free.memory);
  if (smaller || free.total() <= cap || free.batch <= 1 || LeastWithoutSamples(free) > cap ||
      free.memory.parts.decoded > cap / 8) {
    return;
  }
  smaller.emplace(model, library, options, free, cap);
}

// "2.67", "512".
std::string TimesText(double times) {
  return times < 100 ? fmt::format("{:.3g}", times) : fmt::format("{:.0f}", times);
}

// The largest batch of a few that fits, for one that does not: as it is, or with all computed again
// that helps.
std::string BatchHelp(const ModelSpec& model, const KernelLibrary& library, CompileOptions options,
                      const CappedRun& fit, std::optional<SmallerBatch>& smaller) {
  const int64_t whole = fit.free.batch;
  if (whole <= 1) return "";
  const int64_t rest = std::min(LeastWithoutSamples(fit.free), LeastWithoutSamples(fit.capped));
  if (rest > fit.cap) {
    return "a smaller batch hardly helps: without its samples the run takes " + FormatBytes(rest) +
           " already";
  }
  if (!smaller) smaller.emplace(model, library, options, fit.free, fit.cap);
  const auto found = smaller->Wait();
  if (!found) return "";
  const PlannedRun& run = found->run;
  if (run.total() <= fit.cap) {
    return fmt::format(
        "`--batch {}` takes about {}, and {} times as many steps an epoch; `--batch auto` looks "
        "for the largest batch that fits",
        run.batch, FormatBytes(run.total()),
        TimesText(static_cast<double>(whole) / static_cast<double>(run.batch)));
  }
  if (found->least && found->least->total() <= fit.cap) {
    options.arena_cap = kLeastArena;
    const auto again = SmallerBatch(model, library, options, fit.capped, fit.cap).Wait();
    if (again && again->run.total() <= fit.cap) {
      constexpr double kFar = 1;  // a quick search then says too little of what it would be
      const double slower = Slower(again->run, fit.free);
      return fmt::format("`--batch {}` fits, {}", again->run.batch,
                         slower < kFar ? CostOf(slower) : "for longer steps");
    }
  }
  if (run.total() - run.memory.base_room <= fit.cap) {
    return fmt::format("`--batch {}` takes about {}, and may fit", run.batch,
                       FormatBytes(run.total()));
  }
  return fmt::format("a smaller batch does not help: one sample takes about {}",
                     FormatBytes(run.total()));
}

std::string LinesOf(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (!line.empty()) text += (text.empty() ? "" : "\n" + std::string(kIndent)) + line;
  }
  return text;
}

void Refuse(const ModelSpec& model, const KernelLibrary& library, const CompileOptions& options,
            const CappedRun& fit, std::optional<SmallerBatch>& smaller, bool is_resumed,
            Diagnostics& diagnostics) {
  const bool helps = TakesLess(fit);
  std::vector<std::string> help;
  if (helps) {
    help.push_back(EnoughFor(fit.capped) + " is enough, " + CostOf(fit));
  }
  help.push_back(EnoughFor(fit.free) + " is enough" + (helps ? " for steps as they are" : ""));
  if (!is_resumed) help.push_back(BatchHelp(model, library, options, fit, smaller));
  const int64_t lacks = fit.capped.total() - fit.cap;  // tensors in a file take it off the arena
  if (!model.train->swap && fit.capped.of_batch > lacks && CanSwapHere(model)) {
    help.push_back(
        SwapsToHost(model)
            ? "`--swap host` lets tensors wait in the host's memory, where that takes less"
            : "`--swap DIR` lets tensors wait in a file, where that takes less");
  }
  diagnostics.Error(model.train->memory->mark,
                    RefusalOf("the run takes", fit, /*is_asked_for=*/true), LinesOf(help));
}

// "a file of 52.0 MiB"
std::string SwapPlaceText(bool to_host, int64_t bytes) {
  return to_host ? FormatBytes(bytes) + " of host memory" : "a file of " + FormatBytes(bytes);
}

// "2 operators of a step run a second time, 1 tensor is swapped to a file of 52.0 MiB"; nothing
// where all is as it is without the cap.
std::string HowText(const CappedRun& fit) {
  const PlannedRun& run = fit.capped;
  const bool lacks_lanes = LacksLanes(fit);
  if (fit.arena_cap == 0) return lacks_lanes ? "no operators run side by side" : "";
  std::string text;
  const auto add = [&](int64_t count, std::string_view noun, const std::string& one,
                       const std::string& more) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + FormatCount(count, noun) + (count == 1 ? one : more);
  };
  add(run.second_runs, "operator", " of a step runs a second time", " of a step run a second time");
  const std::string place = " swapped to " + SwapPlaceText(!run.memory.on_host, run.swap_bytes);
  add(run.swaps, "tensor", " is" + place, " are" + place);
  const std::string why = " on one thread, in a smaller workspace";
  add(run.alone, "operator", " works" + why, " work" + why);
  if (lacks_lanes) {
    text += text.empty() ? "" : ", ";
    text += "no operators run side by side, which the time leaves out";
  }
  return text;
}

// "; steps take about 2.1 % longer"; nothing where the arena is as it is.
std::string TimeText(const CappedRun& fit) {
  if (fit.arena_cap == 0) return "";
  const double percent = 100 * fit.slower();
  return "; steps take about " + (percent <= -0.05 ? fmt::format("{:.1f} % less time", -percent)
                                                   : LongerText(fit.slower()));
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

// "152 and 160 would not fit either"; nothing where none was tried.
std::string LargerText(const std::vector<int64_t>& larger) {
  std::string text;
  for (size_t i = 0; i < larger.size(); ++i) {
    text += (i == 0 ? "; " : i + 1 == larger.size() ? " and " : ", ") + std::to_string(larger[i]);
  }
  return text.empty() ? text : text + " would not fit either";
}

// What becomes of a run's length, which nobody has chosen: without a cap such a batch is as large
// as the memory, or the data.
std::string EpochText(const ModelSpec& model, const BatchFit& fit) {
  const bool is_chosen = model.train->memory && !fit.all;
  if (is_chosen || !fit.samples) return "";
  const int64_t batch = fit.run->batch, batches = (*fit.samples + batch - 1) / batch;
  const int64_t steps =
      Accumulation(model.train->accumulate.value, *fit.samples, batch, batches).steps_per_epoch();
  return fmt::format(
      "; an epoch is then {}: learning rates and epochs are mostly meant for smaller batches, "
      "which `--batch N`{} gives",
      steps == 1 ? "one step" : FormatCount(steps, "step"),
      model.train->memory ? "" : " or a cap, `--memory SIZE`,");
}

std::string BatchText(const BatchFit& fit, int64_t cap) {
  const auto texts = FormatBytesUnder(cap, {fit.run->total(), fit.all ? cap : fit.next.total()});
  if (fit.all) {
    return fmt::format("batch: {}, the most that there is to try: {} of {}", fit.run->batch,
                       texts[1], texts[0]);
  }
  return fmt::format(
      "batch: {}: {} of {}, {} to spare; a batch of {} would take {}, where most is held by {}{}",
      fit.run->batch, texts[1], texts[0], FormatBytes(cap - fit.run->total()), fit.next.batch,
      texts[2], HoldersOf(fit.next), LargerText(fit.larger));
}

// What there is, where nobody says how much may be taken.
int64_t CapOf(const ModelSpec& model, const KernelLibrary& library) {
  if (model.train->memory) return model.train->memory->value;
  if (KindOfDevice(library.name()).on_host) return FreeHostMemory();
  return OpenDevice(library.name())->Info().free_bytes;
}

// Of a batch that was to be found: not even one sample fits.
void RefuseOneSample(const ModelSpec& model, const KernelLibrary& library,
                     const CompileOptions& options, const BatchFit& fit, int64_t cap,
                     Diagnostics& diagnostics) {
  const ModelSpec one = WithBatch(model, 1);
  RunPlanner planner(one, library, options);
  Diagnostics ignored;
  const auto free = PlanFreeRun(planner, options, cap, std::nullopt, ignored);
  const auto quick = free ? FitRunQuickly(planner, options, cap, *free, std::nullopt, ignored)
                          : std::optional<CappedRun>();
  const auto found = quick ? FitRun(planner, options, *quick, std::nullopt, ignored) : quick;
  CappedRun capped = found ? *found : CappedRun{cap, fit.next, fit.next, 0};
  SetRoom(capped.free.memory);
  SetRoom(capped.capped.memory);
  std::vector<std::string> help = {EnoughFor(capped.free) + " is enough for it"};
  if (TakesLess(capped)) {
    help.push_back(
        fmt::format("`--batch 1` {}, {}",
                    capped.fits() ? "fits" : "with " + EnoughFor(capped.capped) + " is enough",
                    CostOf(capped)));
  }
  diagnostics.Error(
      model.train->batch.mark,
      RefusalOf("a batch of one sample takes", capped, model.train->memory.has_value()),
      LinesOf(help));
}

// A larger batch than the one that was found, for which more is computed again than the search
// does.
void TellLargerBatch(const ModelSpec& model, const KernelLibrary& library,
                     const CompileOptions& options, const BatchFit& fit, int64_t cap) {
  if (fit.all || !model.train->memory || Quiet()) return;
  const auto larger = FitLargerBatch(model, library, options, cap, fit);
  if (!larger) return;
  Tell(fmt::format("with more computed again a batch of {0} fits, {1}: `--batch {0}`",
                   larger->capped.batch, CostOf(larger->slower())));
}

// Has decoded samples lie in files, of a run that does not fit with them in memory. False where
// that is so already, or would hardly help.
bool StreamData(const PlannedRun& run, ModelSpec& model) {
  constexpr int64_t kLeast = 1 << 20;
  if (!model.data || model.data->streams || run.memory.parts.streamable < kLeast) return false;
  model.data->streams = true;
  return true;
}

std::optional<PlannedRun> FindBatch(ModelSpec& model, const KernelLibrary& library,
                                    const CompileOptions& options, Diagnostics& diagnostics) {
  const int64_t cap = CapOf(model, library);
  auto fit = FitBatch(model, library, options, cap, diagnostics);
  if (!fit) return std::nullopt;
  if (!fit->run && StreamData(fit->next, model)) {
    return FindBatch(model, library, options, diagnostics);
  }
  if (!fit->run) {
    RefuseOneSample(model, library, options, *fit, cap, diagnostics);
    return std::nullopt;
  }
  Tell(BatchText(*fit, cap) + EpochText(model, *fit));
  TellLargerBatch(model, library, options, *fit, cap);
  return std::move(fit->run);
}

std::optional<CappedRun> KeepCap(ModelSpec& model, const KernelLibrary& library,
                                 CompileOptions& options, std::optional<int64_t> base,
                                 Diagnostics& diagnostics) {
  const int64_t cap = model.train->memory->value;
  RunPlanner planner(model, library, options);
  std::optional<SmallerBatch> smaller;
  std::optional<PlannedRun> ahead;  // how fast a swap is would be measured beside it
  if (!model.train->swap) ahead = PlanAhead(planner, options, cap, base);
  if (ahead) BeginSmallerBatch(model, library, options, *ahead, cap, smaller);
  const auto free = PlanFreeRun(planner, options, cap, base, diagnostics);
  if (!free) return std::nullopt;
  if (free->total() > cap && StreamData(*free, model)) {
    smaller.reset();
    return KeepCap(model, library, options, base, diagnostics);
  }
  // How fast a swap is, is looked at where there may be something to swap.
  if (free->total() > cap && !NoteSwapFolder(model, options)) return std::nullopt;
  BeginSmallerBatch(model, library, options, *free, cap, smaller);
  const auto quick = FitRunQuickly(planner, options, cap, *free, base, diagnostics, ahead);
  if (!quick) return std::nullopt;
  if (quick->fits()) smaller.reset();
  auto fit = FitRun(planner, options, *quick, base, diagnostics);
  if (!fit) return std::nullopt;
  if (!fit->fits()) {
    SetRoom(fit->free.memory);
    SetRoom(fit->capped.memory);
    Refuse(model, library, options, *fit, smaller, base.has_value(), diagnostics);
    return std::nullopt;
  }
  options.arena_cap = fit->arena_cap;
  options.effort = fit->effort;
  options.lanes = fit->lanes;
  Tell(FitText(*fit));
  return fit;
}

// Gives `model` the batch that was found, which fits as it was planned then: it is not planned
// again for the cap.
FittedRun FitBatchOf(const ModelFlags& flags, ModelSpec& model, CompileOptions& options,
                     Diagnostics& diagnostics) {
  options.lanes = !model.train->memory.has_value();  // a larger batch is worth more
  const auto run = FindBatch(model, KernelsOf(model), options, diagnostics);
  if (!run) return {};
  auto with_batch = LoadWithBatch(flags, run->batch);
  if (!with_batch) return {};
  if (with_batch->data) with_batch->data->streams = model.data->streams;
  model = std::move(*with_batch);
  return {true, run->memory};
}

}  // namespace

FittedRun FitMemory(const ModelFlags& flags, ModelSpec& model, CompileOptions& options,
                    std::optional<int64_t> base) {
  if (!model.train) return {true, {}};
  const bool automatic = model.train->batch.value.automatic;
  const bool capped = model.train->memory.has_value();
  Diagnostics diagnostics;
  FittedRun fitted;
  if (RefuseSwapToHost(model, diagnostics)) {
    PrintDiagnostics(diagnostics);
    fitted.printed = std::move(diagnostics);
    return fitted;
  }
  if (!flags.swap.empty() && !options.swap && (automatic || !capped)) {
    WarnOfNoSwaps(model, diagnostics);
  }
  if (!automatic && !capped) {
    PrintDiagnostics(diagnostics);
    return {true, {}};
  }
  if (automatic) {
    fitted = FitBatchOf(flags, model, options, diagnostics);
  } else if (const auto fit = KeepCap(model, KernelsOf(model), options, base, diagnostics)) {
    fitted = {true, fit->capped.memory};
    if (fit->arena_cap > 0) fitted.slower = fit->slower();
    fitted.slowdown_without_cap = fit->free.slowdown;
  }
  PrintDiagnostics(diagnostics);
  fitted.printed = std::move(diagnostics);
  return fitted;
}

}  // namespace cgrun
