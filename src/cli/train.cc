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
#include "src/cli/group_runs.h"
#include "src/cli/host_cap.h"
#include "src/cli/memory_cap.h"
#include "src/cli/model_flags.h"
#include "src/cli/onnx_networks.h"
#include "src/cli/profile_view.h"
#include "src/cli/resume.h"
#include "src/cli/resumed_training.h"
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
#include "src/report/metric_tables.h"
#include "src/report/run_page.h"
#include "src/report/run_summary.h"
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

// One call of `cgrun train`, which grows from step to step: Load, Fit, Open, RunIn, Report.
struct Training {
  ModelFlags flags;
  const RunFlags& run_flags;
  const TrainFlags& train_flags;
  const ProfileFlags& profile;

  // Load() fills these.
  std::optional<ModelSpec> model = {};     // nothing after errors, which are printed
  std::optional<ProgramImage> image = {};  // of a compiled program
  std::optional<ResumedRun> resumed = {};  // of --resume, but for its model
  std::string folder = {};
  SessionOptions options = {};
  std::unique_ptr<DebugRun> debug = {};

  FittedRun fitted = {};                  // Fit() and Open() fill it
  Diagnostics diagnostics = {};           // of the session that opens
  std::unique_ptr<Session> session = {};  // Open() makes it

  // PrepareFolder() fills these.
  std::optional<RunFolder> run_folder = {};  // of a new run
  RunSettings settings = {};

  // The files that the run reads.
  std::vector<std::string> Inputs() const { return {flags.model, session->weights_file()}; }
};

// Finds the model, of a program or of a run folder where one is given, and the run's folder.
void FindModel(Training& training) {
  const ModelFlags& flags = training.flags;
  const TrainFlags& train_flags = training.train_flags;
  const bool resume = !train_flags.resume.empty();
  if (flags.model.empty() && !resume) {
    throw InputError("`cgrun train` needs a model file",
                     "cgrun train MODEL, or cgrun train --resume DIR");
  }
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
  if (!training.model) return;
  CheckPathsOfModel(*training.model);
  training.folder = resume                    ? train_flags.resume
                    : train_flags.out.empty() ? "runs/" + training.model->name.value
                                              : train_flags.out;
}

void SetOptions(Training& training) {
  const RunFlags& run_flags = training.run_flags;
  SessionOptions& options = training.options;
  options.device = DeviceOf(*training.model);
  options.compile = CompileOptionsOf(training.flags, *training.model, run_flags.dry_run);
  options.weights = FindNewestWeights(training.train_flags.weights);
  options.mode = ModeOf(run_flags);
  options.dry_run = run_flags.dry_run;
  options.limit_batches = run_flags.limit_batches;
  options.image = training.image ? &*training.image : nullptr;
  if (training.resumed) {
    options.checkpoint = training.resumed->checkpoint;
    if (IsByGroup(*training.model)) options.weights = InitialWeightsOf(training.folder);
    TakeSettings(training.resumed->settings, training.flags, run_flags, options);
  }
  options.profile = training.profile.wanted();
  options.trace = !training.profile.trace_file.empty();
  RunFlags debug_flags = run_flags;
  debug_flags.mode = Name(options.mode);  // of a resumed run that of its folder
  training.debug = MakeDebugRun(debug_flags, options.device, options.profile);
  options.debug = training.debug.get();
}

// Returns false after an error, which is printed.
bool Load(Training& training) {
  FindModel(training);
  if (!training.model) return false;
  if (!training.resumed && !training.run_flags.dry_run) {
    // Before SetOptions() measures kernels for --tune.
    RunFolder::Check(training.folder, training.train_flags.force, {training.flags.model});
  }
  KernelsOf(*training.model);  // throws where there are none
  CheckGroupRun(*training.model, training.run_flags, training.profile.wanted());
  if (training.image) RefuseGroups(*training.model, "a compiled program");
  SetOptions(training);
  return true;
}

// The plan of the fitted run keeps the limits of this process, so that they are not checked a
// second time. A compiled program can have another plan, and so can the host's part of a device's
// run.
void FollowPlan(Training& training) {
  SessionOptions& options = training.options;
  options.base = training.fitted.memory->base;
  const bool is_planned = options.image == nullptr && training.fitted.memory->on_host;
  if (is_planned) options.limits = HostLimits{};
}

// Makes the run fit under the cap that the model has. Returns false after an error, which is
// printed.
bool Fit(Training& training) {
  ModelSpec& model = *training.model;
  SessionOptions& options = training.options;
  if (options.mode == Mode::kEager && model.train && model.train->memory) {
    Diagnostics diagnostics;
    diagnostics.Error(model.train->memory->mark,
                      "eager mode plans nothing that a cap on memory could hold",
                      "leave the cap out, or train in graph mode");
    PrintDiagnostics(diagnostics);
    return false;
  }
  training.fitted =
      FitMemory(training.flags, model, options.compile, options.base, ReadHostLimits());
  if (training.fitted.memory) FollowPlan(training);
  return training.fitted.fits;
}

// Returns whether the run can be planned for less memory than it would take.
bool CanShrink(const ModelSpec& model, const SessionOptions& options) {
  return options.mode == Mode::kGraph && KindOfDevice(options.device).on_host && model.train &&
         !model.train->memory;
}

// A program that was compiled without a cap takes more than a plan under one; or its file asks for
// more than its model needs.
void ForgetProgram(Training& training) {
  SessionOptions& options = training.options;
  if (options.image == nullptr) return;
  const bool as_compiled = options.compile.arena_cap == 0 && options.compile.streams;
  if (as_compiled && options.image->memory_bytes() <= training.fitted.memory->arena) return;
  options.image = nullptr;
  Tell("note: " + training.flags.model + " is compiled again, for less memory");
}

// A run that may not fit into what there is is planned again for that. Returns null where it cannot
// fit, which is printed.
std::unique_ptr<Session> OpenSession(Training& training) {
  ModelSpec& model = *training.model;
  SessionOptions& options = training.options;
  const HostLimits limits = ReadHostLimits();
  options.can_replan = CanShrink(model, options);
  try {
    return std::make_unique<Session>(model, options, /*train=*/true, training.diagnostics);
  } catch (const MayNotFit&) {
    options.can_replan = false;
    ReleaseFreeMemory();  // the session's memory is not to count
  }
  training.fitted = FitWithin(limits, model, options.compile, options.base);
  if (!training.fitted.fits) return nullptr;
  ForgetProgram(training);
  FollowPlan(training);
  training.diagnostics = Diagnostics();  // the second session finds again what is wrong
  return std::make_unique<Session>(model, options, /*train=*/true, training.diagnostics);
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

// A run that begins takes the weights of networks that are models of ONNX.
void TakeStart(Training& training) {
  ModelSpec& model = *training.model;
  if (training.resumed && !IsByGroup(model)) return;
  TakeNetworkWeights(model, model.weights || !training.options.weights.empty());
  if (const auto files = FilesOfNetworkWeights(model.initial_weights)) {
    Tell("weights of networks: " + *files);
  }
}

// Returns false after an error, which is printed.
bool Open(Training& training) {
  WarnOfSlowBF16(*training.model, KernelsOf(*training.model), training.diagnostics);
  TakeStart(training);
  training.session = OpenSession(training);
  if (!training.session) return false;
  const Session& session = *training.session;
  training.resumed ? PrintBriefly(training.diagnostics) : PrintDiagnostics(training.diagnostics);
  if (!session.ready() || !ReportInputs(session, training.flags.model)) return false;
  CheckHostMemory(training.flags, session.memory());
  TellNotes(session.data_notes());
  return true;
}

// A dry run minds no folder, but the run itself will.
void WarnOfFolder(const std::string& folder, bool force, const std::vector<std::string>& inputs) {
  try {
    RunFolder::Check(folder, force, inputs);
  } catch (const InputError& error) {
    PrintWarning(error.what() + std::string(": ") + error.help());
  }
}

int ShowDryRun(const Training& training) {
  PrintDryRun(training.model->name.value, *training.session);
  if (!training.resumed) {
    WarnOfFolder(training.folder, training.train_flags.force, training.Inputs());
  }
  return kDone;
}

// Says how the run was started. A resumed run keeps the hash of the data that it began with.
RunSettings SettingsOf(const Training& training, const std::string& data_hash) {
  const SessionOptions& options = training.options;
  const CompileOptions& compile = options.compile;
  const int64_t step = training.session->run_state().step;
  RunSettings settings = {options.device,
                          options.mode,
                          compile.threads,
                          options.limit_batches,
                          KeptFiles(*training.model),
                          options.base.value_or(0),
                          compile.streams,
                          data_hash,
                          compile.tuning ? compile.tuning->Name() : "",
                          AssignmentsOf(training.flags),
                          {}};
  if (training.resumed) {
    const RunSettings& before = training.resumed->settings;
    if (!before.data_hash.empty()) settings.data_hash = before.data_hash;
    settings.overrides = SetSoFar(*training.resumed, training.flags);
    settings.parts = before.parts;
  }
  settings.parts = PartsUntilNow(std::move(settings.parts), step);
  return settings;
}

// Makes the run folder, or takes that of the resumed run, and writes what a run writes first.
void PrepareFolder(Training& training) {
  const std::string& folder = training.folder;
  const std::string data_hash = training.session->DataHash();
  training.settings = SettingsOf(training, data_hash);
  if (training.resumed && !IsByGroup(*training.model)) {
    TellResumed(*training.resumed, *training.session, data_hash, training.settings.tuning);
  }
  if (training.resumed) {
    RemoveTemporaries(folder);
  } else {
    training.run_folder.emplace(folder, training.train_flags.force, training.Inputs());
  }
  RemoveSummary(folder);
  WriteRunSettings(folder, training.settings);
  WriteModelFile(folder, *training.model);
}

// Lines that a run has for its epochs and the evaluations within them; 0: not known.
int64_t LinesOf(const TrainSpec& train, const Session& session) {
  const int64_t steps = session.total_steps() - session.run_state().step;
  const int64_t evaluations = train.eval_every ? steps / train.eval_every->value : 0;
  return steps / std::max<int64_t>(1, session.steps_per_epoch()) + evaluations;
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

// Trains in the run folder. Returns nothing if a signal ended the run within a step.
std::optional<TrainResult> RunIn(Training& training) {
  PrepareFolder(training);
  Session& session = *training.session;
  const TrainSpec& train = *training.model->train;
  PrintMemory(session);
  RunView view(train.epochs ? train.epochs->value : 0);
  view.Fold(LinesOf(train, session), training.folder + "/metrics.csv");
  std::optional<TrainResult> result = TrainIn(training.folder, session, view);
  if (!result) return std::nullopt;
  view.Clear();
  if (result->slowdown) {  // against the run without the cap, whose steps were estimated
    result->slowdown = (1 + *result->slowdown) / (1 + training.fitted.slowdown_without_cap) - 1;
    result->expected_slowdown = training.fitted.slower;
  }
  return result;
}

// Writes report.html, which shows all parts of a resumed run.
void WritePage(const ModelSpec& model, const RunSettings& settings, const Session& session,
               const TrainResult& result, const std::string& folder) {
  RunPage page;
  page.model = model.name.value;
  page.facts = TrainFacts(result, folder);
  std::ifstream metrics(folder + "/metrics.csv");
  page.charts = ChartsOf(metrics);
  MarkApproximations(result.last, page.charts);
  page.matrices = ConfusionMatrices(result.last, session.class_names());
  page.layout = session.layout();
  page.origin = OriginRows(settings, model.train->seed.value);
  page.settings = ReadTextFile(folder + "/model.yaml");
  const std::string html = RunPageHtml(page);
  WriteFileAtomically(folder + "/report.html", std::as_bytes(std::span(html)));
}

// The cap on the host's memory; 0: none.
int64_t HostCapOf(const ModelSpec& model) {
  const bool on_host = KindOfDevice(DeviceOf(model)).on_host;
  return on_host && model.train && model.train->memory ? model.train->memory->value : 0;
}

void PrintTrained(const TrainResult& result, const std::string& folder, const std::string& json,
                  const Session& session, const ProfileFlags& profile, int threads, int64_t cap) {
  std::string text = TrainSummary(result, folder, session.class_names(), Quiet()), shown = json;
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

void WarnOfResult(const ModelSpec& model, const TrainResult& result) {
  for (const PassResult& evaluation : result.last.evaluations) {
    WarnOfLosses(evaluation);
    WarnOfChance(model, evaluation);
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
}

// Writes the page and the summary of the run, and prints what came of it. Returns the exit status.
int Report(Training& training, TrainResult& result) {
  Session& session = *training.session;
  const std::string& folder = training.folder;
  session.FreeArenas();
  WritePage(*training.model, training.settings, session, result, folder);
  result.memory = session.MeasureMemory();
  const std::string json = SummaryJson(result);
  WriteSummary(folder, json);
  if (training.run_folder) training.run_folder->Keep();
  PrintTrained(result, folder, json, session, training.profile, training.options.compile.threads,
               HostCapOf(*training.model));
  WarnOfResult(*training.model, result);
  if (result.interrupted) PrintInterrupted(result, folder);
  if (!TellDebugRun(training.debug.get())) return kFailed;
  return result.interrupted ? kInterrupted : kDone;
}

// A model for each group. What is trained stays, however the run ends.
int RunByGroups(Training& training) {
  const bool resumes = training.resumed.has_value();
  const GroupRunOptions options = {training.folder, resumes, training.run_flags.dry_run};
  if (!options.dry_run) PrepareFolder(training);
  if (training.run_folder) training.run_folder->Keep();
  return TrainByGroups(*training.session, *training.model, options);
}

int Run(const ModelFlags& given, const RunFlags& run_flags, const TrainFlags& train_flags,
        const ProfileFlags& profile) {
  Training training = {.flags = WithHostMemory(given, train_flags.resume + "/model.yaml"),
                       .run_flags = run_flags,
                       .train_flags = train_flags,
                       .profile = profile};
  if (!Load(training) || !Fit(training) || !Open(training)) return kBadInput;
  if (IsByGroup(*training.model)) return RunByGroups(training);
  if (training.resumed && IsFinished(training.folder, *training.model, *training.session)) {
    return ReportFinished(training.folder, *training.model, *training.session);
  }
  if (run_flags.dry_run) return ShowDryRun(training);
  std::optional<TrainResult> result = RunIn(training);
  return result ? Report(training, *result) : kInterrupted;
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
           "continue the run of a folder as it was started; train.epochs, train.steps and "
           "train.time may change")
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
