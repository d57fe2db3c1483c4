// The sentences about a cap.
#include "src/cli/memory_cap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "src/cli/console.h"
#include "src/device/device.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr size_t kHolders = 3;  // of the peak, that a refusal names
constexpr int64_t kMiB = 1 << 20;

std::string HoldersOf(const PlannedRun& run) {
  std::string text;
  for (size_t i = 0; i < std::min(run.at_peak.size(), kHolders); ++i) {
    const PlacedBuffer& buffer = run.at_peak[i];
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", buffer.name, FormatBytes(buffer.bytes));
  }
  return text;
}

std::string PartsOf(const PlannedRun& run) {
  return fmt::format("arena {}, data {}, base {}", FormatBytes(run.memory.arena),
                     FormatBytes(run.memory.data), FormatBytes(run.memory.base));
}

// A smaller batch that fits, if a few steps down find one.
std::string BatchHelp(const ModelSpec& model, const KernelLibrary& library, Device& device,
                      const CompileOptions& options, const CappedRun& fit) {
  Diagnostics ignored;
  ModelSpec smaller = model;
  int64_t batch = fit.free.batch;
  for (int i = 0; i < 3 && batch > 1; ++i) {
    batch = std::max<int64_t>(1, batch / 2);
    smaller.train->batch.value = {false, batch};
    const auto run = PlanRun(smaller, library, device, options, ignored);
    if (run && run->total() <= fit.cap) {
      return fmt::format("; `--batch {}` takes {}", batch, FormatBytes(run->total()));
    }
  }
  return "";
}

void Refuse(const ModelSpec& model, const KernelLibrary& library, Device& device,
            const CompileOptions& options, const CappedRun& fit, Diagnostics& diagnostics) {
  const PlannedRun& least = fit.capped;
  diagnostics.Error(
      model.train->memory->mark,
      fmt::format("the run takes {}, or {} with all computed again that helps ({}), more than the "
                  "cap of {}",
                  FormatBytes(fit.free.total()), FormatBytes(least.total()), PartsOf(least),
                  FormatBytes(fit.cap)),
      fmt::format("`--memory {}` is enough, for steps that take about {:.0f} % longer{}; most is "
                  "held by {}",
                  fmt::format("{}MiB", (least.total() + kMiB - 1) / kMiB), 100 * least.slowdown,
                  BatchHelp(model, library, device, options, fit), HoldersOf(least)));
}

void Tell(const std::string& text) {
  if (!Quiet()) std::fprintf(stderr, "%s\n", text.c_str());
}

std::string FitText(const CappedRun& fit) {
  if (fit.arena_cap == 0) {
    return fmt::format("cap: {} of {}, as it is", FormatBytes(fit.free.total()),
                       FormatBytes(fit.cap));
  }
  const double slower = (1 + fit.capped.slowdown) / (1 + fit.free.slowdown) - 1;
  return fmt::format(
      "cap: {} of {}, instead of {}: {} operators of a step run a second time; steps "
      "take about {:.1f} % longer",
      FormatBytes(fit.capped.total()), FormatBytes(fit.cap), FormatBytes(fit.free.total()),
      fit.capped.second_runs, 100 * slower);
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
int64_t CapOf(const ModelSpec& model, const KernelLibrary& library, const Device& device) {
  if (model.train->memory) return model.train->memory->value;
  return KindOfDevice(library.name()).on_host ? FreeHostMemory() : device.Info().free_bytes;
}

}  // namespace

std::optional<int64_t> FindBatch(const ModelSpec& model, const KernelLibrary& library,
                                 const CompileOptions& options, Diagnostics& diagnostics) {
  const std::unique_ptr<Device> device = OpenDevice(library.name());
  const int64_t cap = CapOf(model, library, *device);
  const auto fit = FitBatch(model, library, *device, options, cap, diagnostics);
  if (!fit) return std::nullopt;
  if (!fit->run) {
    diagnostics.Error(
        model.train->batch.mark,
        fmt::format("a batch of one sample takes {} ({}), more than {}",
                    FormatBytes(fit->next.total()), PartsOf(fit->next), FormatBytes(cap)),
        "most is held by " + HoldersOf(fit->next));
    return std::nullopt;
  }
  Tell(BatchText(*fit, cap));
  return fit->run->batch;
}

bool KeepMemoryCap(const ModelSpec& model, const KernelLibrary& library, CompileOptions& options,
                   Diagnostics& diagnostics) {
  if (!model.train || !model.train->memory) return true;
  const std::unique_ptr<Device> device = OpenDevice(library.name());
  const auto fit =
      FitRun(model, library, *device, options, model.train->memory->value, diagnostics);
  if (!fit) return false;
  if (!fit->fits()) {
    Refuse(model, library, *device, options, *fit, diagnostics);
    return false;
  }
  options.arena_cap = fit->arena_cap;
  Tell(FitText(*fit));
  return true;
}

}  // namespace cgrun
