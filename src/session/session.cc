// Opening, compiling, and one pass over data.
#include "src/session/session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "src/base/allocation_counter.h"
#include "src/base/check.h"
#include "src/compile/analysis_count.h"
#include "src/data/sampler.h"
#include "src/device/cpu.h"
#include "src/fit/run_memory.h"
#include "src/fit/run_shape.h"
#include "src/frontend/frontend.h"
#include "src/ir/op_def.h"
#include "src/lint/batch_lint.h"
#include "src/lint/class_share.h"
#include "src/lint/pixel_lint.h"
#include "src/lint/settings_lint.h"
#include "src/lint/size_lint.h"
#include "src/lint/unread.h"
#include "src/model/model_file.h"

namespace cgrun {
Session::Session(const ModelSpec& model, const SessionOptions& options, bool train,
                 Diagnostics& diagnostics)
    : model_(model), options_(options), analyses_before_(AnalysisCount()) {
  if (model.train) batch_ = model.train->batch.value.size;
  device_ = OpenDevice(options.device);
  if (options.dry_run) LeaveUntouched(*device_);
  const KernelLibrary* library = FindKernelLibrary(options.device);
  CGRUN_CHECK(library != nullptr) << "no kernels for " << options.device;
  ChooseWeights(diagnostics);
  const bool has_data = OpenData(train, diagnostics);
  if (!has_data && train && model.train) ReadRateSchedules(model, diagnostics);
  const bool can_watch = !train || CheckWatchedData(model, diagnostics);
  const bool has_length = has_data && (!train || ReadLength(diagnostics));
  if (!has_length || (train && !ReadSchedules(diagnostics)) || !can_watch) {
    const EntryKind kind = train && model.train ? EntryKind::kTrain : EntryKind::kEval;
    BuildForward(WithoutMisfits(model, data_), {kind, options.compile.precision}, diagnostics);
    return;  // with all errors of the file, not the data's alone
  }
  CheckLabelRanges(train, diagnostics);
  if (diagnostics.has_errors() || !MakeEngine(*library, diagnostics)) return;
  const bool runs_again = options.compile.arena_cap > 0 && KindOfDevice(options.device).on_host;
  if (options.profile || runs_again) {
    times_ = MakeTimes(*engine_, options.trace);
    engine_->Watch(times_.get());
  }
  memory_.base = options.base ? *options.base : BaseOfNow();
  if (options.base && options.trace) memory_.base += kTracedRuns * sizeof(OperatorRun);
  ReadWeights(diagnostics);
  KeepValues();
  recurrent_ = RecurrentStates(*engine_);
  CountMemory();
  MakeSplits();
  if (train) ReadWatchedMetrics(diagnostics);
  if (diagnostics.has_errors()) {
    engine_.reset();
    return;
  }
  if (train) {
    run_state_.totals.resize(train_->runner->total_count());
    run_state_.schedules.resize(ScheduleNumbers());
  }
  if (!options.checkpoint.empty()) {
    run_state_ = LoadCheckpoint(*engine_, options.checkpoint, std::move(run_state_));
    CheckPlace();
    RestoreSchedules(run_state_.schedules);
  }
  ReleaseFreeMemory();
  NoteMemory();
}

namespace {

// The settings that byte code depends on: the resolved file without data, length of the run and the
// folder of a swap file.
std::string CodeSettings(const ModelSpec& model) {
  TreeNode tree = ResolvedTree(model);
  const auto drop = [](TreeNode& map, std::initializer_list<std::string_view> keys) {
    std::erase_if(map.entries, [&](const TreeEntry& entry) {
      return std::find(keys.begin(), keys.end(), entry.key) != keys.end();
    });
  };
  drop(tree, {"data", "weights"});
  if (TreeEntry* train = tree.Find("train")) {
    drop(train->value, {"epochs", "steps", "time", "swap"});
  }
  return ToYaml(tree);
}

// Whether a program was compiled from these settings.
bool SameSettings(const ProgramImage& image, const ModelSpec& model,
                  const CompileOptions& options) {
  const CompileOptions defaults;
  if (options.layout.planner != defaults.layout.planner || !options.passes.disabled.empty() ||
      !options.passes.stop_after.empty()) {
    return false;
  }
  const EntryKind keeps = PredictsAlone(model) ? EntryKind::kPredict : defaults.keeps;
  if (!model.keep.empty() && options.keeps != keeps) return false;
  Diagnostics diagnostics;
  const auto embedded = ParseModel({image.model_path, image.model_text}, {}, diagnostics);
  return embedded && CodeSettings(*embedded) == CodeSettings(model);
}

int64_t SwapBytes(const ProgramImage& image) {
  return image.arena_bytes[static_cast<size_t>(ArenaKind::kFile)];
}

// Why a program that swaps nothing is compiled again where it may.
std::string LacksSwaps(const SwapFolder& swap) {
  return swap.path == kSwapToHost ? "it swaps nothing to the host's memory, as it now may"
                                  : "it swaps nothing to a file, and there is a folder for one";
}

// The place of what a model file lacks.
SourceMark WholeFile(const ModelSpec& model) { return {model.tree.mark.file}; }

// What to do where there is no data for an evaluation: take what there is.
std::string HelpWithoutData(const ModelData& data, const std::string& wanted) {
  std::string there;
  if (data.valid) there = "`--split valid`";
  if (data.train) there += (there.empty() ? "" : " or ") + std::string("`--split train`");
  if (there.empty()) {
    return "give `data: {" + wanted + ": {format: idx, images: FILE, labels: FILE}}`";
  }
  return there + " takes data that are there; or give `data: {" + wanted +
         ": …}` with the keys of `train` and other files";
}

}  // namespace

bool Session::MakeEngine(const KernelLibrary& library, Diagnostics& diagnostics) {
  memory_.mode = options_.mode;
  if (options_.mode == Mode::kEager) {
    engine_ = BuildEngine(model_, Requests(), options_.mode, options_.compile,
                          {library, *device_, communicator_, options_.debug}, diagnostics);
    return engine_ != nullptr;
  }
  std::optional<ProgramImage> image = MakeImage(library, diagnostics);
  if (!image) return false;
  memory_.start = std::max(PlannedStart(), data_.opening_bytes);
  ReleaseFreeMemory();  // what compiling took is not to lie beside what kernels prepare
  engine_ =
      MakeImageEngine(std::move(*image), {library, *device_, communicator_, options_.debug},
                      options_.compile.swap ? options_.compile.swap->path : SwapFolderOf(model_));
  program_ = engine_->program();
  memory_.arena = engine_->memory().reserved_peak_bytes;
  memory_.swap_space = SwapBytes(program_->image());
  memory_.swaps_to_host = !KindOfDevice(options_.device).on_host;
  return true;
}

int64_t Session::graph_analyses() const { return AnalysisCount() - analyses_before_; }

// The compiled program that was given, if it is for this device and these batches; else a new one.
std::optional<ProgramImage> Session::MakeImage(const KernelLibrary& library,
                                               Diagnostics& diagnostics) {
  const std::vector<EntryRequest> requests = Requests();
  if (options_.image != nullptr) {
    const ProgramImage& given = *options_.image;
    const bool complete =
        std::all_of(requests.begin(), requests.end(), [&](const EntryRequest& request) {
          return given.Find(request.kind, request.batch) != nullptr;
        });
    const std::string fingerprint = FingerprintOf(library, options_.compile);
    if (given.device != library.name() || given.fingerprint != fingerprint) {
      recompiled_ = DescribeDifference(given, library.name(), fingerprint);
    } else if (!SameSettings(given, model_, options_.compile)) {
      recompiled_ = "the settings are not those that it was compiled with";
    } else if (options_.compile.swap && SwapBytes(given) == 0) {
      recompiled_ = LacksSwaps(*options_.compile.swap);
    } else if (!complete) {
      recompiled_ = "it has no entry point for these batch sizes";
    } else {
      return given;
    }
  }
  auto compiled = Compile(model_, requests, library, options_.compile, diagnostics);
  if (!compiled) return std::nullopt;
  layout_ = std::move(compiled->layout);
  return std::move(compiled->image);
}

// What is wrong with the model itself is reported too, as compiling it would do.
void Session::CheckLabelRanges(bool train, Diagnostics& diagnostics) {
  const FrontendOptions options = {train ? EntryKind::kTrain : EntryKind::kEval,
                                   options_.compile.precision};
  const std::optional<Graph> forward = BuildForward(model_, options, diagnostics);
  if (!forward) return;
  if (options_.limits) CheckLimits(*forward);
  label_uses_ = FindLabelUses(*forward);
  if (train) {
    WarnOfUnreadInputs(model_, *forward, options.precision, diagnostics);
    WarnOfSettings(model_, *forward, diagnostics);
    WarnOfSingleValues(model_, *forward, train_->dataset->size(), diagnostics);
    CheckOneNumber(*forward, WatchedNames(model_), diagnostics);
  }
  if (train && options_.weights.empty() && options_.checkpoint.empty()) {
    WarnOfPixels(model_, *forward, *train_->dataset, diagnostics);
    WarnOfTargetSizes(model_, *forward, *train_->dataset, diagnostics);
  }
  std::vector<LabelledSet> sets;
  if (train_) sets.push_back({train_->dataset.get(), train_->inputs});
  for (Split& split : evaluations_) {
    sets.push_back({split.dataset.get(), split.inputs});
    split.class_share = LargestClassShare(sets.back(), label_uses_);
  }
  CheckLabels(sets, label_uses_, diagnostics);
  if (train_) WarnOfSpareUnits(sets[0], label_uses_, diagnostics);
}

bool Session::ReadLength(Diagnostics& diagnostics) {
  if (!model_.train) {
    diagnostics.Error(WholeFile(model_), "the file does not say how to train: it has no 'train'",
                      kTrainHelp);
    return false;
  }
  const TrainSpec& train = *model_.train;
  batches_per_epoch_ = LimitBatches(BatchCount(train_->dataset->size(), batch_));
  accumulation_ =
      Accumulation(train.accumulate.value, train_->dataset->size(), batch_, batches_per_epoch_);
  const auto steps = TotalSteps(model_, accumulation_.steps_per_epoch(), diagnostics);
  total_steps_ = steps.value_or(0);
  return steps.has_value();
}

int64_t Session::LimitBatches(int64_t batches) const {
  return options_.limit_batches > 0 ? std::min(batches, options_.limit_batches) : batches;
}

bool Session::ReadSchedules(Diagnostics& diagnostics) {
  auto schedules = ReadRateSchedules(model_, diagnostics);
  if (!schedules) return false;
  path_schedules_ = std::move(*schedules);
  for (const PathSchedule& of_path : path_schedules_) {
    schedules_.push_back(of_path.schedule);
    schedules_.back().steps_per_epoch = steps_per_epoch();
    if (total_steps_ > 0) schedules_.back().total_steps = total_steps_;
    rates_.push_back({of_path.path, 0});  // MakeSplits() knows the feed's name
  }
  WarnOfLongWarmups(path_schedules_, steps_per_epoch(), total_steps_, diagnostics);
  return true;
}

std::vector<NamedNumber> Session::RateColumns() const {
  std::vector<NamedNumber> columns;
  for (const std::string& name : RateNames(path_schedules_)) columns.push_back({name, 0});
  return columns;
}

std::vector<RateJump> Session::RateJumps(const ModelSpec& before) const {
  Diagnostics ignored;
  const int64_t steps_before = TotalSteps(before, steps_per_epoch(), ignored).value_or(0);
  const bool ended = total_steps_ > 0 && run_state_.step >= total_steps_;
  if (run_state_.step == 0 || steps_before == 0 || ended) return {};
  return FindRateJumps(path_schedules_, schedules_, steps_before, run_state_.step);
}

std::vector<EntryRequest> Session::Requests() const {
  std::vector<int64_t> train_sizes, evaluation_sizes;
  if (train_) train_sizes.push_back(train_->dataset->size());
  for (const Split& split : evaluations_) evaluation_sizes.push_back(split.dataset->size());
  const int64_t accumulate = train_ ? model_.train->accumulate.value : 1;
  std::vector<EntryRequest> requests =
      TrainingEntries(batch_, train_sizes, evaluation_sizes, accumulate);
  if (requests.empty()) {
    throw InputError(model_.file_name + " has no '" + options_.evaluate[0] + "' data",
                     HelpWithoutData(data_, options_.evaluate[0]));
  }
  return requests;
}

void Session::KeepValues() {
  const auto& entries = engine_->model().entries;
  const bool runs = std::any_of(entries.begin(), entries.end(), [&](const EngineEntry& entry) {
    return entry.kind == options_.compile.keeps;
  });
  if (model_.keep.empty() || !runs) return;
  Diagnostics reported;
  Kept kept;
  const auto graph =
      BuildForward(model_, {options_.compile.keeps, options_.compile.precision}, reported, &kept);
  if (!graph) return;
  kept_ = std::make_unique<KeptValues>(*engine_, kept.states, *graph);
}

void Session::MakeSplits() {
  const uint64_t seed = model_.train ? static_cast<uint64_t>(model_.train->seed.value) : 0;
  const auto make = [&](Split& split, EntryKind kind, bool shuffle) {
    LoaderOptions loader;
    loader.batch = batch_;
    loader.shuffle = shuffle;
    loader.seed = seed;
    split.source = std::make_unique<DataSource>(*split.dataset, loader, *device_);
    split.runner =
        std::make_unique<BatchRunner>(*engine_, kind, batch_, *split.dataset, split.inputs);
  };
  for (RateFeed& rate : rates_) {
    for (const EnginePath& path : engine_->model().paths) {
      if (path.name == rate.name) rate.name = path.learning_rate_feed;
    }
  }
  const bool shuffle =
      model_.train && model_.train->shuffle ? model_.train->shuffle->value : model_.update.empty();
  if (train_) make(*train_, EntryKind::kTrain, shuffle);
  for (Split& split : evaluations_) make(split, EntryKind::kEval, false);
}

void Session::ChooseWeights(Diagnostics& diagnostics) {
  if (!options_.checkpoint.empty()) return;
  weights_file_ = options_.weights;
  if (!weights_file_.empty() || !model_.weights) return;
  try {
    weights_file_ = NewestWeightsOf(model_, diagnostics);
  } catch (const UserError& error) {
    diagnostics.Error(model_.weights->mark, error.what(), error.help());
  }
}

void Session::ReadWeights(Diagnostics& diagnostics) {
  const bool of_model = options_.weights.empty() && model_.weights;
  try {
    if (!weights_file_.empty()) {
      weights_ = LoadWeights(*engine_, weights_file_, WeightsScope::kModel);
    }
  } catch (const UserError& error) {
    if (!of_model) throw;
    diagnostics.Error(model_.weights->mark, error.what(), error.help());
  }
}

void Session::ReadWatchedMetrics(Diagnostics& diagnostics) {
  Split* valid = FindSplit("valid");
  const WatchedNumbers watched = ReadWatchedNumbers(model_, valid != nullptr, diagnostics);
  stop_metric_ = watched.stopping;
  kept_metric_ = watched.kept;
  if (!kept_metric_) kept_metric_ = stop_metric_;
  if (!kept_metric_ && valid != nullptr && !valid->runner->Means().empty()) {
    kept_metric_ = WatchedNumber{valid->runner->Means()[0].name, false};  // the first is a loss
  }
}

size_t Session::ScheduleNumbers() const {
  size_t count = 0;
  for (const RateSchedule& schedule : schedules_) {
    if (schedule.watches()) count += schedule.State().size();
  }
  return count;
}

void Session::SaveSchedules(std::vector<double>& numbers) const {
  auto to = numbers.begin();
  for (const RateSchedule& schedule : schedules_) {
    if (!schedule.watches()) continue;
    const auto state = schedule.State();
    to = std::copy(state.begin(), state.end(), to);
  }
}

void Session::CheckPlace() const {
  const int64_t batches = run_state_.batch, samples = train_->dataset->size();
  const bool more_batches = batches > batches_per_epoch_;
  if (!more_batches && run_state_.samples <= std::min(samples, batches * batch_)) return;
  const auto of = [](int64_t batch_count, int64_t sample_count) {
    return CountText(batch_count, "batch", "batches") + ", " + CountText(sample_count, "sample");
  };
  throw UserError(options_.checkpoint + " was written after " + of(batches, run_state_.samples) +
                      " of an epoch, but the training data are " + of(batches_per_epoch_, samples),
                  "the data have changed since, or the file is damaged; --weights starts a new run "
                  "from its weights");
}

void Session::RestoreSchedules(const std::vector<double>& numbers) {
  auto from = numbers.begin();
  for (RateSchedule& schedule : schedules_) {
    if (!schedule.watches()) continue;
    auto state = schedule.State();
    std::copy_n(from, state.size(), state.begin());
    schedule.Restore(state);
    from += static_cast<std::ptrdiff_t>(state.size());
  }
}

void Session::SetRates(int64_t step) {
  for (size_t i = 0; i < rates_.size(); ++i) rates_[i].rate = schedules_[i].RateAt(step);
}

void Session::ObserveEvaluation(const PassResult& result, int64_t step) {
  for (RateSchedule& schedule : schedules_) {
    if (!schedule.watches()) continue;
    for (const NamedNumber& mean : result.means) {
      if (mean.name == schedule.metric) schedule.Observe(step, mean.value);
    }
  }
}

Session::Split* Session::FindSplit(const std::string& name) {
  for (Split& split : evaluations_) {
    if (split.name == name) return &split;
  }
  return nullptr;
}

PassResult Session::Evaluate(const std::string& split, RunObserver& observer) {
  Split* found = FindSplit(split);
  CGRUN_CHECK(found != nullptr) << "no split " << split;
  PassResult result;
  RunEvaluation(*found, observer, result);
  return result;
}

bool Session::RunEvaluation(Split& split, RunObserver& observer, PassResult& result,
                            const volatile std::sig_atomic_t* stop) {
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Loader& loader = split.source->loader();
  const double stall_before = loader.stall_seconds();
  split.runner->Reset();
  recurrent_.ResetEvaluation(*engine_);
  loader.StartEpoch(0);
  StepReport report;
  report.batches = LimitBatches(loader.batches_per_epoch());
  while (report.batch < report.batches) {
    if (stop != nullptr && *stop != 0) return false;
    const Batch* batch = loader.Next();
    if (batch == nullptr) break;
    const int entry = split.runner->Run(*batch, 0, {});
    if (kept_ && options_.compile.keeps == EntryKind::kEval) kept_->Take(*engine_, entry);
    ++report.batch;
    report.samples = report.timed_samples = split.runner->samples();
    report.seconds = elapsed();
    report.means = &split.runner->RunningMeans();
    observer.OnEvaluationStep(report);
  }
  NoteMemory();
  split.runner->Report(split.name, result);
  result.class_share = split.class_share;
  result.seconds = elapsed();
  result.stall_seconds = loader.stall_seconds() - stall_before;
  return true;
}

}  // namespace cgrun
