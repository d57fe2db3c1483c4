// Opening a session, and one pass over data.
#include "src/session/session.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "src/base/allocation_counter.h"
#include "src/base/check.h"
#include "src/compile/analysis_count.h"
#include "src/data/sampler.h"
#include "src/device/cpu.h"
#include "src/fit/run_shape.h"
#include "src/frontend/frontend.h"
#include "src/io/checksum.h"
#include "src/lint/batch_lint.h"
#include "src/lint/class_share.h"
#include "src/lint/label_check.h"
#include "src/lint/pixel_lint.h"
#include "src/lint/settings_lint.h"
#include "src/lint/unread.h"
#include "src/model_data/data_hash.h"
#include "src/model_data/group_table.h"
#include "src/model_data/sample_order.h"
#include "src/run/weights.h"
#include "src/session/session_parts.h"

namespace cgrun {
namespace {

// The option's weights, else those that the model file names.
void ChooseWeights(SessionParts& session, Diagnostics& diagnostics) {
  const ModelSpec& model = session.model;
  if (!session.options.checkpoint.empty()) return;
  session.weights_file = session.options.weights;
  if (!session.weights_file.empty() || !model.weights) return;
  try {
    session.weights_file = NewestWeightsOf(model, diagnostics);
  } catch (const UserError& error) {
    diagnostics.Error(model.weights->mark, error.what(), error.help());
  }
}

bool ReadLength(SessionParts& session, Diagnostics& diagnostics) {
  const ModelSpec& model = session.model;
  if (!model.train) {
    diagnostics.Error({model.tree.mark.file},
                      "the file does not say how to train: it has no 'train'", kTrainHelp);
    return false;
  }
  RunLength& length = session.length;
  const int64_t samples = session.data.train->dataset->size();
  length.batches_per_epoch = LimitBatches(session, BatchCount(samples, session.batch));
  length.accumulation =
      Accumulation(model.train->accumulate.value, samples, session.batch, length.batches_per_epoch);
  const auto steps = TotalSteps(model, length.accumulation.steps_per_epoch(), diagnostics);
  length.total_steps = steps.value_or(0);
  return steps.has_value();
}

bool ReadRates(SessionParts& session, Diagnostics& diagnostics) {
  auto paths = ReadRateSchedules(session.model, diagnostics);
  if (!paths) return false;
  const RunLength& length = session.length;
  const int64_t per_epoch = length.accumulation.steps_per_epoch();
  session.rates = RunRates(std::move(*paths), per_epoch, length.total_steps);
  WarnOfLongWarmups(session.rates.paths(), per_epoch, length.total_steps, diagnostics);
  return true;
}

// Opens the data, and reads the file's `train`. Returns false after an error.
bool ReadInputs(SessionParts& session, bool train, Diagnostics& diagnostics) {
  const ModelSpec& model = session.model;
  ChooseWeights(session, diagnostics);
  const bool has_data = OpenData(session, train, diagnostics);
  if (!train) return has_data;
  if (!has_data && model.train) ReadRateSchedules(model, diagnostics);
  const bool can_watch = CheckWatchedData(model, diagnostics);
  return has_data && ReadLength(session, diagnostics) && ReadRates(session, diagnostics) &&
         can_watch;
}

// Reports all errors of the file, not those of the data alone.
void ReportGraph(const SessionParts& session, bool train, Diagnostics& diagnostics) {
  const EntryKind kind = train && session.model.train ? EntryKind::kTrain : EntryKind::kEval;
  BuildForward(WithoutMisfits(session.model, session.data.sets),
               {kind, session.options.compile.precision}, diagnostics);
}

// Warns of what a graph of training and its data tell.
void LintTraining(const SessionParts& session, const Graph& forward, Diagnostics& diagnostics) {
  const ModelSpec& model = session.model;
  const SessionOptions& options = session.options;
  const Dataset& data = *session.data.train->dataset;
  WarnOfUnreadInputs(model, forward, options.compile.precision, diagnostics);
  WarnOfSettings(model, forward, diagnostics);
  WarnOfSingleValues(model, forward, data.size(), diagnostics);
  CheckOneNumber(forward, WatchedNames(model), diagnostics);
  if (!options.weights.empty() || !options.checkpoint.empty()) return;
  WarnOfPixels(model, forward, data, diagnostics);
}

// Labels that name no class are errors, where the data knows its labels. Errors of the model itself
// are reported too, as compiling it would do.
void CheckForwardGraph(SessionParts& session, bool train, Diagnostics& diagnostics) {
  const FrontendOptions options = {train ? EntryKind::kTrain : EntryKind::kEval,
                                   session.options.compile.precision};
  const std::optional<Graph> forward = BuildForward(session.model, options, diagnostics);
  if (!forward) return;
  // A compiled program is looked at itself.
  if (train && session.options.can_replan && session.options.image == nullptr) {
    CheckBound(session, *forward);
  }
  SessionData& data = session.data;
  data.label_uses = FindLabelUses(*forward);
  if (train) LintTraining(session, *forward, diagnostics);
  std::vector<LabelledSet> sets;
  if (data.train) sets.push_back({data.train->dataset.get(), data.train->inputs});
  for (Split& split : data.evaluations) {
    sets.push_back({split.dataset.get(), split.inputs});
    split.class_share = LargestClassShare(sets.back(), data.label_uses);
  }
  CheckLabels(sets, data.label_uses, diagnostics);
  if (data.train) WarnOfSpareUnits(sets[0], data.label_uses, diagnostics);
}

void TimeOperators(SessionParts& session) {
  const SessionOptions& options = session.options;
  const bool runs_again = options.compile.arena_cap > 0 && KindOfDevice(options.device).on_host;
  if (!options.profile && !runs_again) return;
  session.run.times = MakeTimes(session.engine(), options.trace);
  session.engine().Watch(session.run.times.get());
}

// The place of the network that owns a parameter; that of the file where none does.
SourceMark OnnxMarkOf(const ModelSpec& model, const std::string& parameter) {
  for (const NetworkSpec& network : model.networks) {
    if (network.onnx && parameter.starts_with(network.name.value + ".")) {
      return network.onnx->file.mark;
    }
  }
  return {};
}

// Reads what networks that are models of ONNX begin with. All of their parameters must be there.
void ReadInitialWeights(SessionParts& session, Diagnostics& diagnostics) {
  const ModelSpec& model = session.model;
  if (model.initial_weights.empty() || !session.options.checkpoint.empty()) return;
  const WeightsReport report =
      LoadWeights(session.engine(), model.initial_weights, WeightsScope::kModel);
  for (const std::string& text : report.mismatched) {
    diagnostics.Error(OnnxMarkOf(model, text), "the weights do not fit: " + text,
                      "the network reads inputs of other sizes than the file of ONNX declares");
  }
  for (const std::string& name : report.missing) {
    const SourceMark mark = OnnxMarkOf(model, name);
    if (mark.file == nullptr) continue;
    diagnostics.Error(mark, "'" + name + "' is not in the file of ONNX",
                      "`ops` of this network are those of another file; leave them out");
  }
}

// Reads session.weights_file.
void ReadWeights(SessionParts& session, Diagnostics& diagnostics) {
  ReadInitialWeights(session, diagnostics);
  if (session.weights_file.empty()) return;
  const ModelSpec& model = session.model;
  try {
    session.weights =
        LoadWeights(session.engine(), session.weights_file, WeightsScope::kModel, model.rename);
  } catch (const UserError& error) {
    if (!session.options.weights.empty() || !model.weights) throw;
    diagnostics.Error(model.weights->mark, error.what(), error.help());
  }
}

void KeepValues(SessionParts& session) {
  const ModelSpec& model = session.model;
  const CompileOptions& options = session.options.compile;
  const auto& entries = session.engine().model().entries;
  const bool runs = std::any_of(entries.begin(), entries.end(), [&](const EngineEntry& entry) {
    return entry.kind == options.keeps;
  });
  if (model.keep.empty() || !runs) return;
  Diagnostics reported;
  Kept kept;
  const auto graph = BuildForward(model, {options.keeps, options.precision}, reported, &kept);
  if (!graph) return;
  session.kept = std::make_unique<KeptValues>(session.engine(), kept.states, *graph);
}

void MakeSplits(SessionParts& session) {
  const auto& train = session.model.train;
  const bool shuffle = ShufflesSamples(session.model);
  const uint64_t seed = train ? static_cast<uint64_t>(train->seed.value) : 0;
  const auto make = [&](Split& split, EntryKind kind, bool in_random_order) {
    LoaderOptions loader;
    loader.batch = session.batch;
    loader.shuffle = in_random_order;
    loader.seed = seed;
    if (session.groups != nullptr) loader.workers = 0;  // threads for each group would take longer
    split.source = std::make_unique<DataSource>(*split.dataset, loader, *session.run.device);
    split.runner = std::make_unique<BatchRunner>(session.engine(), kind, session.batch,
                                                 *split.dataset, split.inputs);
  };
  session.rates.NameFeeds(session.engine().model());
  if (session.data.train) make(*session.data.train, EntryKind::kTrain, shuffle);
  for (Split& split : session.data.evaluations) make(split, EntryKind::kEval, false);
}

// Reads the metrics of `keep_best` and `early_stop`. If the file names no metric, the first loss
// chooses the best model.
void ReadWatched(SessionParts& session, Diagnostics& diagnostics) {
  const Split* valid = session.data.Find("valid");
  WatchedNumbers& watched = session.watched;
  watched = ReadWatchedNumbers(session.model, valid != nullptr, diagnostics);
  if (!watched.kept) watched.kept = watched.stopping;
  if (!watched.kept && valid != nullptr && !valid->runner->Means().empty()) {
    watched.kept = WatchedNumber{valid->runner->Means()[0].name, false};
  }
}

// Throws UserError where the checkpoint's epoch has more batches or samples than the data have.
void CheckPlace(const SessionParts& session) {
  const RunState& state = session.state;
  const int64_t samples = session.data.train->dataset->size();
  const int64_t batches = session.length.batches_per_epoch;
  const bool more_batches = state.batch > batches;
  if (!more_batches && state.samples <= std::min(samples, state.batch * session.batch)) return;
  const auto of = [](int64_t batch_count, int64_t sample_count) {
    return CountText(batch_count, "batch", "batches") + ", " + CountText(sample_count, "sample");
  };
  throw UserError(session.options.checkpoint + " was written after " +
                      of(state.batch, state.samples) + " of an epoch, but the training data are " +
                      of(batches, samples),
                  "the data have changed since, or the file is damaged; --weights starts a new run "
                  "from its weights");
}

// Sets the state at which training begins: that of its start, or that of options.checkpoint.
void ReadState(SessionParts& session) {
  RunState& state = session.state;
  state.totals.resize(session.data.train->runner->total_count());
  state.schedules.resize(session.rates.StateSize());
  const std::string& checkpoint = session.options.checkpoint;
  if (checkpoint.empty()) return;
  state = LoadCheckpoint(session.engine(), checkpoint, std::move(state));
  CheckPlace(session);
  session.rates.Restore(state.schedules);
}

// A session by groups has no data to run on before TakeGroup().
void AwaitGroups(SessionParts& session, Diagnostics& diagnostics) {
  if (!session.trains) return;
  ReadWatchedNumbers(session.model, session.data.Find("valid") != nullptr, diagnostics);
  session.initial.emplace(session.engine());
}

void Open(SessionParts& session, bool train, Diagnostics& diagnostics) {
  session.trains = train;
  if (!ReadInputs(session, train, diagnostics)) return ReportGraph(session, train, diagnostics);
  CheckForwardGraph(session, train, diagnostics);
  if (diagnostics.has_errors() || !MakeEngine(session, diagnostics)) return;
  TimeOperators(session);
  CountBase(session);
  ReadWeights(session, diagnostics);
  KeepValues(session);
  session.recurrent = RecurrentStates(session.engine());
  CountData(session);
  session.groups = session.data.sets.groups;
  const bool by_group = session.groups != nullptr;
  if (by_group) {
    AwaitGroups(session, diagnostics);
  } else {
    MakeSplits(session);
    if (train) ReadWatched(session, diagnostics);
  }
  if (diagnostics.has_errors()) {
    session.run.engine.reset();
    return;
  }
  if (train && !by_group) ReadState(session);
  ReleaseFreeMemory();
  NoteMemory(session);
}

}  // namespace

SessionParts::SessionParts(const ModelSpec& of_model, const SessionOptions& with_options)
    : model(of_model), options(with_options), analyses_before(AnalysisCount()) {
  if (model.train) batch = model.train->batch.value.size;
  run.device = options.shared_device ? options.shared_device : OpenDevice(options.device);
  if (options.dry_run) LeaveUntouched(*run.device);
}

int64_t LimitBatches(const SessionParts& session, int64_t batches) {
  const int64_t limit = session.options.limit_batches;
  return limit > 0 ? std::min(batches, limit) : batches;
}

bool RunEvaluation(SessionParts& session, Split& split, RunObserver& observer, PassResult& result,
                   const volatile std::sig_atomic_t* stop) {
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Loader& loader = split.source->loader();
  const double stall_before = loader.stall_seconds();
  split.runner->Reset();
  session.recurrent.ResetEvaluation(session.engine());
  loader.StartEpoch(0);
  const bool keeps = session.kept && session.options.compile.keeps == EntryKind::kEval;
  StepReport report;
  report.batches = LimitBatches(session, loader.batches_per_epoch());
  while (report.batch < report.batches) {
    if (stop != nullptr && *stop != 0) return false;
    const Batch* batch = loader.Next();
    if (batch == nullptr) break;
    const int entry = split.runner->Run(*batch, 0, {});
    if (keeps) session.kept->Take(session.engine(), entry);
    ++report.batch;
    report.samples = report.timed_samples = split.runner->samples();
    report.seconds = elapsed();
    report.means = &split.runner->RunningMeans();
    observer.OnEvaluationStep(report);
  }
  if (session.groups == nullptr) NoteMemory(session);
  split.runner->Report(split.name, result);
  result.class_share = split.class_share;
  result.seconds = elapsed();
  result.stall_seconds = loader.stall_seconds() - stall_before;
  return true;
}

Session::Session(const ModelSpec& model, const SessionOptions& options, bool train,
                 Diagnostics& diagnostics)
    : parts_(std::make_unique<SessionParts>(model, options)) {
  Open(*parts_, train, diagnostics);
}

Session::~Session() = default;

bool Session::ready() const { return parts_->run.engine != nullptr; }
int64_t Session::graph_analyses() const { return AnalysisCount() - parts_->analyses_before; }
const std::string& Session::recompiled() const { return parts_->run.recompiled; }
Engine& Session::engine() { return parts_->engine(); }
const Engine& Session::engine() const { return parts_->engine(); }
const Program* Session::program() const { return parts_->run.program; }
const MemoryLayout* Session::layout() const {
  return parts_->run.layout ? &*parts_->run.layout : nullptr;
}
const OperatorTimes* Session::times() const {
  return parts_->options.profile ? parts_->run.times.get() : nullptr;
}
const MemoryUse& Session::memory() const { return parts_->memory; }
const GroupTable* Session::groups() const { return parts_->groups.get(); }
const KeptValues* Session::kept() const { return parts_->kept.get(); }
const ClassNames& Session::class_names() const { return parts_->data.class_names; }
std::vector<std::string> Session::data_notes() const { return parts_->data.Notes(); }
const WeightsReport& Session::weights() const { return parts_->weights; }
const std::string& Session::weights_file() const { return parts_->weights_file; }
int64_t Session::batch() const { return parts_->batch; }
int64_t Session::total_steps() const { return parts_->length.total_steps; }
int64_t Session::steps_per_epoch() const { return parts_->length.accumulation.steps_per_epoch(); }
const RunState& Session::run_state() const { return parts_->state; }
bool Session::IsStopped() const { return cgrun::IsStopped(*parts_, parts_->state); }
EarlyStop Session::DescribeStop() const { return cgrun::DescribeStop(*parts_, parts_->state); }

std::string Session::DataHash() const {
  CGRUN_CHECK(parts_->data.train.has_value()) << "this session cannot train";
  return HashText(HashOf(*parts_->data.train->dataset));
}

int64_t Session::LeftOutOf(const std::string& split) const {
  const LeftOut& left_out = parts_->data.sets.left_out;
  const auto found = std::ranges::find(left_out, split, &LeftOut::value_type::first);
  return found == left_out.end() ? 0 : found->second;
}

std::vector<RateJump> Session::RateJumps(const ModelSpec& before) const {
  Diagnostics ignored;
  const int64_t steps_before = TotalSteps(before, steps_per_epoch(), ignored).value_or(0);
  const int64_t step = run_state().step;
  const bool ended = total_steps() > 0 && step >= total_steps();
  if (step == 0 || steps_before == 0 || ended) return {};
  return parts_->rates.Jumps(steps_before, step);
}

TrainResult Session::Train(const std::string& folder, RunObserver& observer,
                           const RunSignals& signals) {
  CGRUN_CHECK(ready() && parts_->data.train.has_value()) << "this session cannot train";
  return TrainSession(*parts_, folder, observer, signals);
}

PassResult Session::Evaluate(const std::string& split, RunObserver& observer) {
  Split* found = parts_->data.Find(split);
  CGRUN_CHECK(found != nullptr) << "no split " << split;
  PassResult result;
  RunEvaluation(*parts_, *found, observer, result);
  return result;
}

// Loaders and runners are made anew; what does not depend on data stays.
bool Session::TakeGroup(const ModelData& group, Diagnostics& diagnostics) {
  SessionParts& session = *parts_;
  SessionData& data = session.data;
  std::vector<LabelUse> uses = std::move(data.label_uses);
  data = SessionData();  // the loaders end before their data do
  session.options.data = &group;
  const bool is_open = OpenData(session, session.trains, diagnostics);
  session.options.data = nullptr;
  data.label_uses = std::move(uses);
  if (!is_open) return false;
  if (session.trains && !(ReadLength(session, diagnostics) && ReadRates(session, diagnostics))) {
    return false;
  }
  for (Split& split : data.evaluations) {
    split.class_share = LargestClassShare({split.dataset.get(), split.inputs}, data.label_uses);
  }
  if (session.initial) session.initial->Restore(session.engine());
  MakeSplits(session);
  if (!session.trains) return true;
  ReadWatched(session, diagnostics);
  session.state = RunState();
  ReadState(session);
  return !diagnostics.has_errors();
}

void Session::FreeArenas() {
  NoteMemory(*parts_);
  engine().FreeArenas();
}

const MemoryUse& Session::MeasureMemory() {
  NoteMemory(*parts_);
  return parts_->memory;
}

}  // namespace cgrun
