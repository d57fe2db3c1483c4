#include "src/cli/resumed_training.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/shell_word.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/report/run_summary.h"

namespace cgrun {
namespace {

// The limit is a part of a run's length: its steps, schedules and end follow from it. 0: none.
void CheckBatchLimit(int64_t of_run, int64_t given) {
  if (given == 0 || given == of_run) return;
  const std::string started =
      of_run == 0 ? "without --limit-batches" : "with --limit-batches " + std::to_string(of_run);
  throw InputError(
      "the run was started " + started + ", and a resumed run keeps its length",
      "leave --limit-batches out; `--set train.epochs=N` makes the run longer or shorter");
}

int ReportStopped(const std::string& folder, const Session& session) {
  const RunState& state = session.run_state();
  PrintError("the run in '" + folder + "' stopped early, after " + CountText(state.step, "step") +
                 ", " + CountText(state.epoch, "epoch") + ": " + StopText(session.DescribeStop()),
             HelpWithStop(folder));
  return kBadInput;
}

// Warns of other training data: only with the same data does the run reach the same end.
void CheckData(const std::string& before, const std::string& now) {
  if (before.empty() || before == now) return;
  PrintWarning(
      "the training data are not those that the run began with: it goes on, but not as it would "
      "have");
}

// Other kernels can round otherwise. `before` and `now` are names of tuning records.
void CheckTuning(const std::string& before, const std::string& now) {
  if (before == now) return;
  const auto named = [](const std::string& record) {
    return record.empty() ? "without a tuning record" : "with tuning record " + record;
  };
  PrintWarning(fmt::format(
      "the run began {}, and goes on {}: where that chooses other kernels, results can differ in "
      "their last places",
      named(before), named(now)));
}

// A longer run stretches what its schedules make of the rate, from where it is now.
void TellOfJumps(const ResumedRun& resumed, const Session& session) {
  for (const RateJump& jump : session.RateJumps(resumed.before)) {
    Diagnostics diagnostics;
    diagnostics.Warning(
        {},
        fmt::format("the run has another length now, and the schedule of path '{}' ends with the "
                    "run: its rate jumps from {:.3g} to {:.3g} at step {}",
                    jump.path, jump.before, jump.after, session.run_state().step),
        fmt::format(
            "the rates are those of a run that had this length from its start, the steps so "
            "far are not; to go on from the weights with rates of your own, begin a run, with "
            "an `lr` of {:.2g}, say: `cgrun train MODEL --weights {} --out DIR`",
            jump.after, ShellWord(resumed.checkpoint)));
    PrintDiagnostics(diagnostics);
  }
}

}  // namespace

void TakeSettings(const RunSettings& settings, const ModelFlags& flags, const RunFlags& run_flags,
                  SessionOptions& options) {
  options.device = settings.device;
  CheckBatchLimit(settings.limit_batches, run_flags.limit_batches);
  options.limit_batches = settings.limit_batches;
  if (run_flags.mode.empty()) options.mode = settings.mode;
  if (flags.threads == 0) options.compile.threads = settings.threads;
  if (options.mode != settings.mode || options.compile.threads != settings.threads) {
    PrintWarning("the run was started with --mode " + std::string(Name(settings.mode)) +
                 " --threads " + std::to_string(settings.threads) +
                 ": with others the results are not the same to the last bit");
  }
  if (settings.base_bytes > 0) {
    options.base = settings.base_bytes;
    options.compile.streams = settings.streams;
  }
}

std::vector<std::string> SetSoFar(const ResumedRun& resumed, const ModelFlags& flags) {
  std::vector<std::string> all = AssignmentsOf(flags);
  std::vector<std::string> before = resumed.settings.overrides;
  std::erase_if(before, [&](const std::string& set) { return std::ranges::count(all, set) > 0; });
  all.insert(all.begin(), before.begin(), before.end());
  return all;
}

bool IsFinished(const std::string& folder, const ModelSpec& model, const Session& session) {
  const int64_t done = session.run_state().step, wanted = session.total_steps();
  const auto& time = model.train->seconds;
  if (wanted > 0 && done > wanted) return true;
  const bool at_end = (wanted > 0 && done == wanted) || session.IsStopped() ||
                      (time && session.run_state().seconds >= time->value);
  return at_end && !IsUnfinishedRun(folder);
}

int ReportFinished(const std::string& folder, const ModelSpec& model, const Session& session) {
  const int64_t done = session.run_state().step, wanted = session.total_steps();
  if (session.IsStopped()) return ReportStopped(folder, session);
  if (model.train->seconds) {
    PrintError("the run in '" + folder + "' is finished: it has taken its whole time",
               "`--set train.time=…` with a longer one lets it go on");
    return kBadInput;
  }
  const int64_t epochs = done / std::max<int64_t>(1, session.steps_per_epoch());
  const bool by_steps = model.train->steps.has_value();
  const std::string so_far =
      CountText(done, "step") + (by_steps ? "" : ", " + CountText(epochs, "epoch"));
  const std::string run = "the run in '" + folder + "' ";
  PrintError(done == wanted
                 ? run + "is finished: it has done " + so_far + ", which is its whole length"
                 : run + "is longer than it is now to be: it has done " + so_far +
                       ", and is to have " + CountText(wanted, "step"),
             std::string("`--set train.") + (by_steps ? "steps" : "epochs") + "=N` with N above " +
                 std::to_string(by_steps ? done : epochs) + " lets it go on");
  return kBadInput;
}

void TellResumed(const ResumedRun& resumed, const Session& session, const std::string& data_hash,
                 const std::string& tuning) {
  CheckData(resumed.settings.data_hash, data_hash);
  CheckTuning(resumed.settings.tuning, tuning);
  const RunState& state = session.run_state();
  Tell(fmt::format("resumed from {}: step {} of epoch {}", resumed.checkpoint, state.step,
                   state.epoch + 1));
  if (!session.IsStopped()) TellOfJumps(resumed, session);
}

}  // namespace cgrun
