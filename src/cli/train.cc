// cgrun train.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <span>

#include "src/base/allocation_counter.h"
#include "src/base/shell_word.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/debug_flags.h"
#include "src/cli/host_cap.h"
#include "src/cli/memory_cap.h"
#include "src/cli/metric_tables.h"
#include "src/cli/model_flags.h"
#include "src/cli/profile_view.h"
#include "src/cli/resume.h"
#include "src/cli/run_origin.h"
#include "src/cli/run_view.h"
#include "src/cli/signals.h"
#include "src/cli/weights_flag.h"
#include "src/cli/weights_report.h"
#include "src/device/host_limits.h"
#include "src/io/atomic_file.h"
#include "src/io/read_file.h"
#include "src/lint/bf16_speed.h"
#include "src/program/serialize.h"
#include "src/report/run_page.h"
#include "src/report/table.h"
#include "src/report/terminal.h"
#include "src/run/kept_values.h"
#include "src/run/run_folder.h"

namespace cgrun {
namespace {

struct TrainFlags {
  std::string out;
  std::string weights;
  std::string resume;
  bool force = false;
};

// The limit is a part of a run's length: its steps, schedules and end follow from it. 0: none.
void CheckBatchLimit(int64_t of_run, int64_t given) {
  if (given == 0 || given == of_run) return;
  const std::string started =
      of_run == 0 ? "without --limit-batches" : "with --limit-batches " + std::to_string(of_run);
  throw InputError(
      "the run was started " + started + ", and a resumed run keeps its length",
      "leave --limit-batches out; `--set train.epochs=N` makes the run longer or shorter");
}

// What a verb of a resumed run takes from the run, where no flag says otherwise.
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
}

// A run that has nothing left to do, not even its summary; or that is to be shorter than it is.
bool IsFinished(const std::string& folder, const ModelSpec& model, const Session& session) {
  const int64_t done = session.run_state().step, wanted = session.total_steps();
  const auto& time = model.train->seconds;
  if (wanted > 0 && done > wanted) return true;
  const bool at_end = (wanted > 0 && done == wanted) || session.IsStopped() ||
                      (time && session.run_state().seconds >= time->value);
  return at_end && !IsUnfinishedRun(folder);
}

int ReportStopped(const std::string& folder, const Session& session) {
  const RunState& state = session.run_state();
  PrintError("the run in '" + folder + "' stopped early, after " + CountText(state.step, "step") +
                 ", " + CountText(state.epoch, "epoch") + ": " +
                 StopText(session.DescribeStop()),
             HelpWithStop(folder));
  return kBadInput;
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

// Lines that a run has for its epochs and the evaluations within them; 0: not known.
int64_t LinesOf(const TrainSpec& train, const Session& session) {
  const int64_t steps = session.total_steps() - session.run_state().step;
  const int64_t evaluations = train.eval_every ? steps / train.eval_every->value : 0;
  return steps / std::max<int64_t>(1, session.steps_per_epoch()) + evaluations;
}

// report.html, of all parts of a resumed run.
void WritePage(const ModelSpec& model, const RunSettings& settings, const Session& session,
               const TrainResult& result, const std::string& folder) {
  RunPage page;
  page.model = model.name.value;
  page.facts = TrainFacts(result, folder);
  std::ifstream metrics(folder + "/metrics.csv");
  page.charts = ChartsOf(metrics);
  page.matrices = ConfusionMatrices(result.last, session.class_names());
  page.layout = session.layout();
  page.origin = OriginRows(settings, model.train->seed.value);
  page.settings = ReadTextFile(folder + "/model.yaml");
  const std::string html = RunPageHtml(page);
  WriteFileAtomically(folder + "/report.html", std::as_bytes(std::span(html)));
}

// What is trained, and where to.
struct Training {
  std::optional<ModelSpec> model;     // nothing after errors, which are printed
  std::optional<ProgramImage> image;  // of a compiled program
  std::optional<ResumedRun> resumed;  // of --resume, but for its model
  std::string folder;
};

Training FindTraining(const ModelFlags& flags, const TrainFlags& train_flags) {
  const bool resume = !train_flags.resume.empty();
  if (flags.model.empty() && !resume) {
    throw InputError("`cgrun train` needs a model file",
                     "cgrun train MODEL, or cgrun train --resume DIR");
  }
  Training training;
  if (resume) {
    training.resumed = FindResumedRun(train_flags.resume, flags);
    if (training.resumed) training.model = std::move(training.resumed->model);
  } else if (IsProgramFile(flags.model)) {
    training.image = LoadProgram(flags.model);
    training.model =
        LoadEmbeddedModel(flags, training.image->model_text, training.image->model_path);
  } else {
    training.model = LoadModel(flags);
  }
  if (!training.model) return training;
  CheckPathsOfModel(*training.model);
  training.folder = resume                    ? train_flags.resume
                    : train_flags.out.empty() ? "runs/" + training.model->name.value
                                              : train_flags.out;
  return training;
}

// `training` outlives them.
SessionOptions OptionsOf(const Training& training, const ModelFlags& flags,
                         const RunFlags& run_flags, const TrainFlags& train_flags) {
  SessionOptions options;
  options.device = DeviceOf(*training.model);
  options.compile = CompileOptionsOf(flags, *training.model, run_flags.dry_run);
  options.weights = FindNewestWeights(train_flags.weights);
  options.mode = ModeOf(run_flags);
  options.dry_run = run_flags.dry_run;
  options.limit_batches = run_flags.limit_batches;
  options.image = training.image ? &*training.image : nullptr;
  if (training.resumed) {
    options.checkpoint = training.resumed->checkpoint;
    TakeSettings(training.resumed->settings, flags, run_flags, options);
  }
  return options;
}

// Prints what became of the compiled program and of the weights that were given; false after an
// error.
bool ReportInputs(const Session& session, const std::string& program) {
  if (!session.recompiled().empty()) {
    PrintText(stderr, program + " is compiled again: " + session.recompiled() + "\n");
  }
  const std::string file = session.weights_file();
  return file.empty() || ReportWeights(session.weights(), file);
}

// What the command lines of the run have set of the model file, this one's last.
std::vector<std::string> SetSoFar(const Training& training, const ModelFlags& flags) {
  std::vector<std::string> all = AssignmentsOf(flags);
  if (!training.resumed) return all;
  std::vector<std::string> before = training.resumed->settings.overrides;
  std::erase_if(before, [&](const std::string& set) { return std::ranges::count(all, set) > 0; });
  all.insert(all.begin(), before.begin(), before.end());
  return all;
}

// That run goes on to no other end only where its data are the same.
void CheckData(const ResumedRun& resumed, const std::string& data_hash) {
  const std::string& before = resumed.settings.data_hash;
  if (before.empty() || before == data_hash) return;
  PrintWarning(
      "the training data are not those that the run began with: it goes on, but not as it would "
      "have");
}

// The record by which kernels are chosen; "": none.
std::string TuningOf(const CompileOptions& options) {
  return options.tuning ? options.tuning->Name() : "";
}

// Other kernels can round otherwise.
void CheckTuning(const ResumedRun& resumed, const CompileOptions& options) {
  const std::string &before = resumed.settings.tuning, now = TuningOf(options);
  if (before == now) return;
  const auto named = [](const std::string& record) {
    return record.empty() ? "without a tuning record" : "with tuning record " + record;
  };
  PrintWarning(fmt::format(
      "the run began {}, and goes on {}: where that chooses other kernels, results can differ in "
      "their last places",
      named(before), named(now)));
}

void PrintResumed(const ResumedRun& resumed, const RunState& state) {
  Tell(fmt::format("resumed from {}: step {} of epoch {}", resumed.checkpoint, state.step,
                   state.epoch + 1));
}

// The cap on the host's memory; 0: none.
int64_t HostCapOf(const ModelSpec& model) {
  const bool on_host = KindOfDevice(DeviceOf(model)).on_host;
  return on_host && model.train && model.train->memory ? model.train->memory->value : 0;
}

void PrintTrained(const TrainResult& result, const std::string& folder, const std::string& json,
                  const Session& session, const ProfileFlags& profile, int threads, int64_t cap) {
  std::string text = TrainSummary(result, folder, session.class_names()), shown = json;
  text += CapNote(result.memory, cap);
  text += BusyNote(result.step_slowdown, result.others_share, threads);
  if (session.times() != nullptr) {
    text +=
        fmt::format("\ncheckpoints: {} in {} of the run's {}\n", FormatCount(result.checkpoints),
                    FormatSeconds(result.checkpoint_seconds), FormatSeconds(result.seconds));
    const Ceilings ceilings = MeasureCeilings(session.engine(), threads);
    text += "\n" + ShowProfile(profile, session.engine(), *session.times(), ceilings);
    if (WantsJson()) shown = WithProfile(json, session.engine(), *session.times(), ceilings);
  }
  PrintResult(text, shown);
}

// A dry run minds no folder, but the run itself will.
void WarnOfFolder(const std::string& folder, bool force, const std::vector<std::string>& inputs) {
  try {
    RunFolder::Check(folder, force, inputs);
  } catch (const InputError& error) {
    PrintWarning(error.what() + std::string(": ") + error.help());
  }
}

// Returns nothing if a signal ended the run within a step.
std::optional<TrainResult> TrainIn(const std::string& folder, Session& session, RunView& view) {
  try {
    const std::string resume = Quiet() ? "" : "cgrun train --resume " + ShellWord(folder);
    TrainResult result = session.Train(folder, view, WatchSignals(resume));
    RunHasEnded();
    return result;
  } catch (const RunStopped&) {
    view.Clear();
    TellLostStep();
    return std::nullopt;
  } catch (const UserError& error) {
    RunHasEnded();
    WriteFailure(folder, error);
    throw;
  }
}

// Whether the run can be planned for less memory than it would take.
bool CanShrink(const ModelSpec& model, const SessionOptions& options) {
  return options.mode == Mode::kGraph && KindOfDevice(options.device).on_host &&
         options.image == nullptr && model.train && !model.train->memory;
}

// A run that may not fit into what there is is planned again for that: then `fitted` and `options`
// say how. Null where it cannot fit, which is printed.
std::unique_ptr<Session> OpenSession(ModelSpec& model, SessionOptions& options, FittedRun& fitted,
                                     Diagnostics& diagnostics) {
  const HostLimits limits = ReadHostLimits();
  if (CanShrink(model, options)) options.limits = limits;
  try {
    return std::make_unique<Session>(model, options, /*train=*/true, diagnostics);
  } catch (const MayNotFit&) {
    options.limits.reset();
    ReleaseFreeMemory();  // what the session has held is not to count
  }
  fitted = FitWithin(limits, model, options.compile, options.base);
  if (!fitted.fits) return nullptr;
  options.base = fitted.memory->base;
  diagnostics = Diagnostics();  // what is wrong is found again
  return std::make_unique<Session>(model, options, /*train=*/true, diagnostics);
}

int Run(const ModelFlags& given, const RunFlags& run_flags, const TrainFlags& train_flags,
        const ProfileFlags& profile) {
  const ModelFlags flags = WithHostMemory(given, train_flags.resume + "/model.yaml");
  Training training = FindTraining(flags, train_flags);
  if (!training.model) return kBadInput;
  ModelSpec& model = *training.model;
  const std::string& folder = training.folder;
  if (!training.resumed && !run_flags.dry_run) RunLock::CheckFree(folder);
  KernelsOf(model);  // says why there are none
  SessionOptions options = OptionsOf(training, flags, run_flags, train_flags);
  options.profile = profile.wanted();
  options.trace = !profile.trace_file.empty();
  RunFlags debug_flags = run_flags;
  debug_flags.mode = Name(options.mode);  // of a resumed run that of its folder
  const std::unique_ptr<DebugRun> debug =
      MakeDebugRun(debug_flags, options.device, options.profile);
  options.debug = debug.get();
  Diagnostics diagnostics;
  if (options.mode == Mode::kEager && model.train && model.train->memory) {
    diagnostics.Error(model.train->memory->mark,
                      "eager mode plans nothing that a cap on memory could hold",
                      "leave the cap out, or train in graph mode");
    PrintDiagnostics(diagnostics);
    return kBadInput;
  }
  if (training.resumed && training.resumed->settings.base_bytes > 0) {
    options.base = training.resumed->settings.base_bytes;
    options.compile.lanes = training.resumed->settings.lanes;
  }
  FittedRun fitted = FitMemory(flags, model, options.compile, options.base);
  if (!fitted.fits) return kBadInput;
  if (fitted.memory) options.base = fitted.memory->base;
  WarnOfSlowBF16(model, KernelsOf(model), diagnostics);
  const std::unique_ptr<Session> opened = OpenSession(model, options, fitted, diagnostics);
  if (!opened) return kBadInput;
  Session& session = *opened;
  training.resumed ? PrintBriefly(diagnostics) : PrintDiagnostics(diagnostics);
  if (!session.ready() || !ReportInputs(session, flags.model)) return kBadInput;
  CheckHostMemory(flags, session.memory());
  TellNotes(session.data_notes());
  if (training.resumed && IsFinished(folder, model, session))
    return ReportFinished(folder, model, session);
  const std::vector<std::string> inputs = {flags.model, session.weights_file()};
  if (run_flags.dry_run) {
    PrintDryRun(model.name.value, session);
    if (!training.resumed) WarnOfFolder(folder, train_flags.force, inputs);
    return kDone;
  }
  std::string data_hash = session.DataHash();
  if (training.resumed) CheckData(*training.resumed, data_hash);
  if (training.resumed) CheckTuning(*training.resumed, options.compile);
  if (training.resumed && !training.resumed->settings.data_hash.empty()) {
    data_hash = training.resumed->settings.data_hash;  // that of the run's beginning
  }
  std::optional<RunFolder> run_folder;
  if (!training.resumed) run_folder.emplace(folder, train_flags.force, inputs);
  if (training.resumed) RemoveTemporaries(folder);
  RemoveSummary(folder);
  std::vector<RunPart> parts;
  if (training.resumed) parts = training.resumed->settings.parts;
  const RunSettings settings = {options.device,
                                options.mode,
                                options.compile.threads,
                                options.limit_batches,
                                KeptFiles(model),
                                options.base.value_or(0),
                                options.compile.lanes,
                                data_hash,
                                TuningOf(options.compile),
                                SetSoFar(training, flags),
                                PartsUntilNow(std::move(parts), session.run_state().step)};
  WriteRunSettings(folder, settings);
  WriteModelFile(folder, model);
  if (training.resumed) PrintResumed(*training.resumed, session.run_state());
  if (training.resumed && !session.IsStopped()) {
    TellOfJumps(*training.resumed, session);
  }

  PrintMemory(session);
  RunView view(model.train->epochs ? model.train->epochs->value : 0);
  view.Fold(LinesOf(*model.train, session), folder + "/metrics.csv");
  std::optional<TrainResult> trained = TrainIn(folder, session, view);
  if (!trained) return kInterrupted;
  TrainResult& result = *trained;
  if (result.slowdown) {  // than without the cap, as it was told before
    result.slowdown = (1 + *result.slowdown) / (1 + fitted.slowdown_without_cap) - 1;
    result.expected_slowdown = fitted.slower;
  }
  view.Clear();
  session.FreeArenas();
  WritePage(model, settings, session, result, folder);
  result.memory = session.MeasureMemory();
  const std::string json = SummaryJson(result);
  WriteSummary(folder, json);
  if (run_folder) run_folder->Keep();
  PrintTrained(result, folder, json, session, profile, options.compile.threads, HostCapOf(model));
  for (const PassResult& evaluation : result.last.evaluations) {
    WarnOfLosses(evaluation);
    WarnOfChance(evaluation);
  }
  if (result.unjudged > 0) {
    PrintWarning("'" + result.unjudged_metric + "' of `valid` was not a number in " +
                 CountText(result.unjudged, "evaluation") +
                 ", which count as no better: they stop a run early, and are no best model");
  }
  if (!result.lost_best.empty()) {
    PrintWarning(result.lost_best +
                 ": the best model of this run is lost, as no later one was better");
  }
  if (result.interrupted) PrintInterrupted(result, folder);
  if (!TellDebugRun(debug.get())) return kFailed;
  return result.interrupted ? kInterrupted : kDone;
}

}  // namespace

Command DefineTrain(const Verb& verb) {
  auto flags = AddModelFlags(verb, CapFlag::kKept);
  auto run_flags = AddRunFlags(verb);
  AddDebugFlags(verb, run_flags);
  auto train_flags = std::make_shared<TrainFlags>();
  verb.Get("MODEL").Describe("model file (.yaml), or compiled program (.cgb)").Required(false);
  const Flag out =
      verb.Add("--out", train_flags->out, "the run folder (default: runs/<model>)").Value("DIR");
  const Flag force = verb.AddSwitch("--force", train_flags->force,
                                    "replace what a former run left in the run folder");
  const Flag weights = AddStartWeightsFlag(verb, train_flags->weights);
  verb.Add("--resume", train_flags->resume,
           "go on with the run of a folder, as it was started; train.epochs, steps and time "
           "may be set anew")
      .Value("DIR")
      .NotWith(out)
      .NotWith(force)
      .NotWith(weights);
  auto profile = AddProfileFlags(verb);
  return [flags, run_flags, train_flags, profile] {
    return Run(*flags, *run_flags, *train_flags, *profile);
  };
}

}  // namespace cgrun
