// Takes the tuning record with --tune, and without it.
#include "src/cli/take_tuning.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>

#include "src/cli/console.h"
#include "src/device/device.h"
#include "src/fit/run_shape.h"
#include "src/fit/tuning.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

using Clock = std::chrono::steady_clock;

std::shared_ptr<TuningRecord> LoadOrWarn(const std::string& file, const KernelLibrary& library) {
  try {
    return LoadTuning(file, library);
  } catch (const UserError& error) {
    PrintWarning(fmt::format("{}; {}", error.what(), error.help()));
    return nullptr;
  }
}

}  // namespace

namespace {

// The arena of what a run takes, or nothing where there is none.
std::optional<int64_t> ArenaOf(const ModelSpec& model, const KernelLibrary& library,
                               const CompileOptions& options) {
  Diagnostics ignored;
  const RunShape shape = ShapeOfRun(model, ignored);
  const auto compiled = Compile(model, shape.entries, library, options, ignored);
  return compiled ? std::optional(compiled->layout.arena_bytes) : std::nullopt;
}

// Kernels that are quicker may work in more memory: every later run with this record does.
void TellArenas(const ModelSpec& model, const KernelLibrary& library, CompileOptions options) {
  const auto tuned = ArenaOf(model, library, options);
  options.tuning = nullptr;
  const auto estimated = ArenaOf(model, library, options);
  if (!tuned || !estimated || *tuned == *estimated) return;
  Tell(
      fmt::format("tuning: with kernels chosen by these times the arena takes {} without a cap, by "
                  "estimates {}; "
                  "`CGRUN_TUNING=none` goes by estimates",
                  FormatBytes(*tuned), FormatBytes(*estimated)));
}

}  // namespace

void TakeTuning(const ModelSpec& model, const KernelLibrary& library, Tune tune,
                CompileOptions& options) {
  if (tune != Tune::kNo && !KindOfDevice(library.name()).on_host) {
    throw InputError(
        fmt::format("--tune measures kernels of the host, not of device '{}'", library.name()),
        "leave it out: there, libraries choose for themselves");
  }
  const std::string file = TuningFile(library);
  options.tuning = LoadOrWarn(file, library);
  if (tune == Tune::kNo) {
    if (options.tuning) {
      Tell(fmt::format("tuning: kernels are chosen by {} ({}); `CGRUN_TUNING=none` does without",
                       file, options.tuning->Name()));
    }
    return;
  }
  if (DoesWithoutTuning()) {
    throw InputError("--tune makes a tuning record, and CGRUN_TUNING=none does without one",
                     "unset CGRUN_TUNING, or set it to the file that the record is to be");
  }
  if (file.empty()) {
    throw InputError("there is no folder for the tuning record",
                     "set HOME, or CGRUN_TUNING to the file that it is to be");
  }
  if (tune == Tune::kDryRun) {
    const std::string record = options.tuning
                                   ? "by the record there (" + options.tuning->Name() + ")"
                                   : std::string("by estimates");
    Tell(fmt::format(
        "tuning: a run would measure the kernels that this model can choose from, and keep their "
        "times in {}; this dry run measures nothing, and chooses kernels {}",
        file, record));
    return;
  }
  Tell("tuning: measuring the kernels that this model can choose from …");
  const Clock::time_point start = Clock::now();
  const int64_t count = TuneKernels(model, library, options);
  SaveTuning(file, *options.tuning, library);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  Tell(fmt::format("tuning: {} times measured in {}, kept in {} ({})", FormatCount(count),
                   FormatSeconds(seconds), file, options.tuning->Name()));
  if (!Quiet()) TellArenas(model, library, options);
}

}  // namespace cgrun
