// The sentences about a cap.
#include "src/cli/memory_cap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "src/cli/console.h"
#include "src/device/device.h"
#include "src/report/table.h"
#include "src/train/fit_run.h"

namespace cgrun {
namespace {

constexpr int64_t kMiB = 1 << 20;

std::string HoldersOf(const PlannedRun& run) {
  std::string text;
  for (const PeakHolder& holder : run.at_peak) {
    text += (text.empty() ? "" : ", ") + holder.name + " " + FormatBytes(holder.bytes);
  }
  return text;
}

std::string PartsOf(const PlannedRun& run) {
  return fmt::format("arena {}, data {}, base {}", FormatBytes(run.memory.arena),
                     FormatBytes(run.memory.data), FormatBytes(run.memory.base));
}

// A cap with which this run fits, in whole MiB. What the next process measures as its base may be
// rounded up.
std::string EnoughFor(const PlannedRun& run) {
  return fmt::format("`--memory {}MiB`", (run.total() + kBaseGrain + kMiB - 1) / kMiB);
}

// A smaller batch that fits, if a few steps down find one.
std::string BatchHelp(const ModelSpec& model, const KernelLibrary& library,
                      const CompileOptions& options, const CappedRun& fit) {
  Diagnostics ignored;
  ModelSpec smaller = model;
  int64_t batch = fit.free.batch;
  for (int i = 0; i < 3 && batch > 1; ++i) {
    batch = std::max<int64_t>(1, batch / 2);
    smaller.train->batch.value = {false, batch};
    const auto run = PlanRun(smaller, library, options, ignored);
    if (run && run->total() + kBaseGrain <= fit.cap) {
      return fmt::format("; `--batch {}` takes {}", batch, FormatBytes(run->total()));
    }
  }
  return "";
}

void Refuse(const ModelSpec& model, const KernelLibrary& library, const CompileOptions& options,
            const CappedRun& fit, Diagnostics& diagnostics) {
  const PlannedRun& least = fit.capped;
  const bool helps = least.total() < fit.free.total();
  const std::string with =
      helps ? fmt::format(", or {} with all computed again that helps", FormatBytes(least.total()))
            : "";
  const std::string longer =
      helps ? fmt::format(", for steps that take about {:.0f} % longer", 100 * fit.slower()) : "";
  diagnostics.Error(
      model.train->memory->mark,
      fmt::format("the run takes {}{} ({}), more than the cap of {}", FormatBytes(fit.free.total()),
                  with, PartsOf(least), FormatBytes(fit.cap)),
      fmt::format("{} is enough{}{}; most is held by {}", EnoughFor(least), longer,
                  BatchHelp(model, library, options, fit), HoldersOf(least)));
}

void Tell(const std::string& text) {
  if (!Quiet()) std::fprintf(stderr, "%s\n", text.c_str());
}

std::string FitText(const CappedRun& fit) {
  if (fit.arena_cap == 0) {
    return fmt::format("cap: the run takes {} of the {} that it may: nothing is computed twice",
                       FormatBytes(fit.free.total()), FormatBytes(fit.cap));
  }
  return fmt::format(
      "cap: {} of {}, instead of {}: {} operators of a step run a second time; steps "
      "take about {:.1f} % longer",
      FormatBytes(fit.capped.total()), FormatBytes(fit.cap), FormatBytes(fit.free.total()),
      fit.capped.second_runs, 100 * fit.slower());
}

std::string BatchText(const BatchFit& fit, int64_t cap) {
  if (fit.all) {
    return fmt::format("batch: {}, the most that there is to try: {} of {}", fit.run->batch,
                       FormatBytes(fit.run->total()), FormatBytes(cap));
  }
  return fmt::format("batch: {}: {} of {}; one more would take {}", fit.run->batch,
                     FormatBytes(fit.run->total()), FormatBytes(cap),
                     FormatBytes(fit.next.total()));
}

// What there is, where nobody says how much may be taken.
int64_t CapOf(const ModelSpec& model, const KernelLibrary& library) {
  if (model.train->memory) return model.train->memory->value;
  if (KindOfDevice(library.name()).on_host) return FreeHostMemory();
  return OpenDevice(library.name())->Info().free_bytes;
}

std::optional<PlannedRun> FindBatch(const ModelSpec& model, const KernelLibrary& library,
                                    const CompileOptions& options, Diagnostics& diagnostics) {
  const int64_t cap = CapOf(model, library);
  auto fit = FitBatch(model, library, options, cap, diagnostics);
  if (!fit) return std::nullopt;
  if (!fit->run) {
    diagnostics.Error(
        model.train->batch.mark,
        fmt::format("a batch of one sample takes {} ({}), more than {}",
                    FormatBytes(fit->next.total()), PartsOf(fit->next), FormatBytes(cap)),
        fmt::format("{} is enough for it; most is held by {}", EnoughFor(fit->next),
                    HoldersOf(fit->next)));
    return std::nullopt;
  }
  Tell(BatchText(*fit, cap));
  return std::move(fit->run);
}

std::optional<PlannedRun> KeepCap(const ModelSpec& model, const KernelLibrary& library,
                                  CompileOptions& options, std::optional<int64_t> base,
                                  Diagnostics& diagnostics) {
  auto fit = FitRun(model, library, options, model.train->memory->value, base, diagnostics);
  if (!fit) return std::nullopt;
  if (!fit->fits()) {
    Refuse(model, library, options, *fit, diagnostics);
    return std::nullopt;
  }
  options.arena_cap = fit->arena_cap;
  Tell(FitText(*fit));
  return std::move(fit->capped);
}

}  // namespace

// The batch that was found fits as it was planned then: it is not planned again for the cap.
FittedRun FitMemory(const ModelFlags& flags, ModelSpec& model, CompileOptions& options,
                    std::optional<int64_t> base) {
  if (!model.train) return {true, {}};
  const bool automatic = model.train->batch.value.automatic;
  if (!automatic && !model.train->memory) return {true, {}};
  Diagnostics diagnostics;
  const KernelLibrary& library = KernelsOf(model);
  const auto run = automatic ? FindBatch(model, library, options, diagnostics)
                             : KeepCap(model, library, options, base, diagnostics);
  PrintDiagnostics(diagnostics);
  if (!run) return {};
  if (automatic) {
    auto with_batch = LoadWithBatch(flags, run->batch);
    if (!with_batch) return {};
    model = std::move(*with_batch);
  }
  return {true, run->memory};
}

}  // namespace cgrun
