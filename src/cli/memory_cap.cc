// Fits runs into caps: what was found is told, and what does not fit is refused.
#include "src/cli/memory_cap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/word_list.h"
#include "src/budget/budget_options.h"
#include "src/cli/capped_run_text.h"
#include "src/cli/console.h"
#include "src/cli/swap_place.h"
#include "src/device/device.h"
#include "src/fit/fit_run.h"
#include "src/fit/run_limit.h"
#include "src/fit/smaller_batch.h"
#include "src/report/table.h"
#include "src/run/accumulation.h"

namespace cgrun {
namespace {

struct MemoryCap {
  RunLimit limit;
  SourceMark mark;                      // that refusals name
  std::optional<HostLimits> here = {};  // of this process, where they count beside `limit`
};

// Returns the bytes that hardly depend on the batch, without those that rounding has added to the
// fixed memory.
int64_t LeastWithoutSamples(const PlannedRun& run) {
  return BytesWithoutSamples(run) - run.memory.base_room;
}

// "2.67", "512".
std::string TimesText(double times) {
  return times < 100 ? fmt::format("{:.3g}", times) : fmt::format("{:.0f}", times);
}

// The largest batch of a few that fits, for one that does not: as it is, or with all recomputed
// that helps.
std::string BatchHelp(const ModelSpec& model, const KernelLibrary& library, CompileOptions options,
                      const CappedRun& fit) {
  const int64_t whole = fit.free.batch;
  if (whole <= 1) return "";
  const int64_t rest = std::min(LeastWithoutSamples(fit.free), LeastWithoutSamples(fit.capped));
  if (rest > fit.cap) {
    return "a smaller batch hardly helps: without its samples the run takes " + FormatBytes(rest) +
           " already";
  }
  const auto found = FindSmallerBatch(model, library, options, fit.free, fit.cap);
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
    const auto again = FindSmallerBatch(model, library, options, fit.capped, fit.cap);
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

void Refuse(const ModelSpec& model, const KernelLibrary& library, const CompileOptions& options,
            const MemoryCap& cap, const CappedRun& fit, bool is_resumed, Diagnostics& diagnostics) {
  const RunLimit& limit = cap.limit;
  const bool helps = TakesLess(fit);
  std::vector<std::string> help;
  if (helps) {
    help.push_back(limit.EnoughFor(fit.capped.memory) + " is enough, " + CostOf(fit));
  }
  help.push_back(limit.EnoughFor(fit.free.memory) + " is enough" +
                 (helps ? " for steps as they are" : ""));
  if (!is_resumed) help.push_back(BatchHelp(model, library, options, fit));
  const int64_t lacks = fit.capped.total() - fit.cap;  // tensors in a file take it off the arena
  if (!model.train->swap && fit.capped.of_batch > lacks && CanSwapHere(model)) {
    help.push_back(
        SwapsToHost(model)
            ? "`--swap host` lets tensors wait in the host's memory, where that takes less"
            : "`--swap DIR` lets tensors wait in a file, where that takes less");
  }
  diagnostics.Error(cap.mark, RefusalOf("the run takes", fit, limit.name()), LinesOf(help));
}

// "152 and 160 would not fit either"; nothing where none was tried.
std::string LargerText(const std::vector<int64_t>& larger) {
  if (larger.empty()) return "";
  std::vector<std::string> batches;
  for (const int64_t batch : larger) batches.push_back(std::to_string(batch));
  return "; " + ListWords(batches, "and") + " would not fit either";
}

// Says how long an epoch becomes if nobody has chosen the batch: without a cap, the batch is as
// large as the memory or the data allow.
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

// The least of the limits, as a run meets it that fills what it leaves.
RunLimit LimitToFill(const HostLimits& limits) {
  RunMemory like;
  like.beside = MeasureFootprint(like, HostThreads());
  like.arena = LeastLimit(limits, like).bytes;  // the limit has page tables, too
  like.beside = MeasureFootprint(like, HostThreads());
  return LeastLimit(limits, like);
}

// Returns the cap of the model file, or what the limits `here` leave, if that is less. Without a
// cap, it is the memory that is there.
RunLimit LimitOf(const ModelSpec& model, const KernelLibrary& library,
                 const std::optional<HostLimits>& here) {
  const bool on_host = KindOfDevice(library.name()).on_host;
  const auto asked = CapOf(model);
  if (!asked && on_host) return LimitToFill(ReadHostLimits());
  if (!asked) return {OpenDevice(library.name())->Info().free_bytes, LimitKind::kMachine};
  if (!here || !on_host) return *asked;
  const RunLimit limit = LimitToFill(*here);
  return limit.bytes < asked->bytes ? limit : *asked;
}

// The search for a batch makes many plans. So the process holds more than a run of one batch: on a
// busy machine up to 310 KiB more.
constexpr int64_t kSearchLeft = kBaseLeft + 4 * kBaseNoise + kBaseGrain;

// Refuses a batch that was to be found: not even one sample fits.
void RefuseOneSample(const ModelSpec& model, const KernelLibrary& library,
                     const CompileOptions& options, const BatchFit& fit, const RunLimit& limit,
                     Diagnostics& diagnostics) {
  const int64_t cap = limit.bytes;
  const ModelSpec one = WithBatch(model, 1);
  RunPlanner planner(one, library, options);
  Diagnostics ignored;
  const auto free = PlanFreeRun(planner, options, cap, std::nullopt, ignored);
  const auto quick = free ? FitRunQuickly(planner, options, cap, *free, std::nullopt, ignored)
                          : std::optional<CappedRun>();
  const auto found = quick ? FitRun(planner, options, *quick, std::nullopt, ignored) : quick;
  CappedRun capped = found ? *found : CappedRun{cap, fit.next, fit.next, 0};
  SetRoom(capped.free.memory, kSearchLeft);
  SetRoom(capped.capped.memory);
  std::vector<std::string> help = {limit.EnoughFor(capped.free.memory) + " is enough for it"};
  if (TakesLess(capped)) {
    const std::string enough = limit.EnoughFor(capped.capped.memory);
    help.push_back(fmt::format("`--batch 1` {}, {}",
                               capped.fits() ? "fits" : "with " + enough + " is enough",
                               CostOf(capped)));
  }
  diagnostics.Error(model.train->batch.mark,
                    RefusalOf("a batch of one sample takes", capped, limit.name()), LinesOf(help));
}

// A larger batch than the one that was found, for which more is recomputed than the search
// does.
void TellLargerBatch(const ModelSpec& model, const KernelLibrary& library,
                     const CompileOptions& options, const BatchFit& fit, int64_t cap) {
  if (fit.all || !model.train->memory || Quiet()) return;
  const auto larger = FitLargerBatch(model, library, options, cap, fit);
  if (!larger) return;
  Tell(fmt::format("with more recomputed, a batch of {0} fits, {1}: `--batch {0}`",
                   larger->capped.batch, CostOf(larger->slower())));
}

// Has decoded samples lie in files, of a run that does not fit with them in memory. Returns false
// where that is so already, or would hardly help.
bool StreamData(const PlannedRun& run, ModelSpec& model) {
  constexpr int64_t kLeast = 1 << 20;
  if (!model.data || model.data->streams || run.memory.parts.streamable < kLeast) return false;
  model.data->streams = true;
  return true;
}

std::optional<PlannedRun> FindBatch(ModelSpec& model, const KernelLibrary& library,
                                    const CompileOptions& options,
                                    const std::optional<HostLimits>& here,
                                    Diagnostics& diagnostics) {
  const RunLimit limit = LimitOf(model, library, here);
  const int64_t cap = limit.bytes;
  auto fit = FitBatch(model, library, options, cap, diagnostics);
  if (!fit) return std::nullopt;
  if (!fit->run && StreamData(fit->next, model)) {
    return FindBatch(model, library, options, here, diagnostics);
  }
  if (!fit->run) {
    RefuseOneSample(model, library, options, *fit, limit, diagnostics);
    return std::nullopt;
  }
  Tell(BatchText(*fit, cap) + EpochText(model, *fit));
  TellLargerBatch(model, library, options, *fit, cap);
  return std::move(fit->run);
}

// The limits of this process can ask for less than the cap does.
std::optional<CappedRun> KeepCap(const MemoryCap& cap, ModelSpec& model,
                                 const KernelLibrary& library, CompileOptions& options,
                                 std::optional<int64_t> base, Diagnostics& diagnostics) {
  const int64_t bytes = cap.limit.bytes;
  RunPlanner planner(model, library, options);
  const auto free = PlanFreeRun(planner, options, bytes, base, diagnostics);
  if (!free) return std::nullopt;
  if (cap.here && free->memory.on_host) {
    const RunLimit least = LeastLimit(*cap.here, free->memory);
    if (least.bytes < bytes) {
      return KeepCap({least, cap.mark}, model, library, options, base, diagnostics);
    }
  }
  if (free->total() > bytes && StreamData(*free, model)) {
    return KeepCap(cap, model, library, options, base, diagnostics);
  }
  // The speed of a swap is measured only where there may be something to swap.
  if (free->total() > bytes && !NoteSwapFolder(model, options)) return std::nullopt;
  const auto quick = FitRunQuickly(planner, options, bytes, *free, base, diagnostics);
  if (!quick) return std::nullopt;
  auto fit = FitRun(planner, options, *quick, base, diagnostics);
  if (!fit) return std::nullopt;
  if (!fit->fits()) {
    SetRoom(fit->free.memory);
    SetRoom(fit->capped.memory);
    Refuse(model, library, options, cap, *fit, base.has_value(), diagnostics);
    return std::nullopt;
  }
  options.arena_cap = fit->arena_cap;
  options.effort = fit->effort;
  options.streams = fit->streams;
  Tell(FitText(*fit));
  return fit;
}

// Returns the least of the limits for a run, and a quick plan of the run. Returns nothing after an
// error.
std::optional<std::pair<RunLimit, PlannedRun>> LimitWithin(const HostLimits& limits,
                                                           const ModelSpec& model,
                                                           CompileOptions options,
                                                           Diagnostics& diagnostics) {
  options.effort = PlanEffort::kQuick;
  RunPlanner planner(model, KernelsOf(model), options);
  const auto like = planner.Plan(options, diagnostics);
  if (!like) return std::nullopt;
  return std::pair(LeastLimit(limits, like->memory), *like);
}

// Gives `model` the batch that was found, which fits as it was planned then: it is not planned
// again for the cap.
FittedRun FitBatchOf(const ModelFlags& flags, ModelSpec& model, CompileOptions& options,
                     const std::optional<HostLimits>& here, Diagnostics& diagnostics) {
  options.streams = !model.train->memory.has_value();  // a larger batch is worth more
  const auto run = FindBatch(model, KernelsOf(model), options, here, diagnostics);
  if (!run) return {};
  auto with_batch = LoadWithBatch(flags, run->batch);
  if (!with_batch) return {};
  if (with_batch->data) with_batch->data->streams = model.data->streams;
  model = std::move(*with_batch);
  return {true, run->memory};
}

FittedRun FittedOf(const std::optional<CappedRun>& fit) {
  if (!fit) return {};
  FittedRun fitted{true, fit->capped.memory};
  if (fit->arena_cap > 0) fitted.slower = fit->slower();
  fitted.slowdown_without_cap = fit->free.slowdown;
  return fitted;
}

}  // namespace

FittedRun FitMemory(const ModelFlags& flags, ModelSpec& model, CompileOptions& options,
                    std::optional<int64_t> base, const std::optional<HostLimits>& here) {
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
    fitted = FitBatchOf(flags, model, options, here, diagnostics);
  } else {
    const KernelLibrary& library = KernelsOf(model);
    const MemoryCap cap{*CapOf(model), model.train->memory->mark, here};
    fitted = FittedOf(KeepCap(cap, model, library, options, base, diagnostics));
  }
  PrintDiagnostics(diagnostics);
  fitted.printed = std::move(diagnostics);
  return fitted;
}

FittedRun FitWithin(const HostLimits& limits, ModelSpec& model, CompileOptions& options,
                    std::optional<int64_t> base) {
  Diagnostics diagnostics;
  FittedRun fitted;
  if (const auto limit = LimitWithin(limits, model, options, diagnostics)) {
    const MemoryCap cap{limit->first, SourceMark{model.tree.mark.file}};
    fitted = FittedOf(KeepCap(cap, model, KernelsOf(model), options, base, diagnostics));
  }
  PrintDiagnostics(diagnostics);
  fitted.printed = std::move(diagnostics);
  return fitted;
}

FittedHere FitHere(ModelSpec& model, CompileOptions& options) {
  const bool on_host = KindOfDevice(KernelsOf(model).name()).on_host;
  if (!model.train || model.train->memory || !on_host) return {{true, {}}};
  const HostLimits limits = ReadHostLimits();
  Diagnostics ignored;  // the verb finds what is wrong with the model
  const auto cap = LimitWithin(limits, model, options, ignored);
  if (!cap) return {{true, {}}};
  const auto& [limit, plan] = *cap;
  if (plan.total() <= limit.bytes) return {{true, plan.memory}, limit.bytes};
  return {FitWithin(limits, model, options), limit.bytes};
}

}  // namespace cgrun
