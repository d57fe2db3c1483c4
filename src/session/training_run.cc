// TrainSession(): epochs of steps; evaluations, the log and checkpoints where they are due.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "src/base/allocation_counter.h"
#include "src/base/check.h"
#include "src/compile/analysis_count.h"
#include "src/data/sampler.h"
#include "src/device/device.h"
#include "src/model_data/class_names.h"
#include "src/run/checkpoint.h"
#include "src/run/path_optimizer.h"
#include "src/run/run_log.h"
#include "src/session/divergence.h"
#include "src/session/due_work.h"
#include "src/session/machine_load.h"
#include "src/session/session_parts.h"
#include "src/session/step_times.h"

namespace cgrun {
namespace {

constexpr size_t kPathRoom = 64;  // characters of a checkpoint's name in its folder, and more

bool IsSet(const volatile std::sig_atomic_t* flag) { return flag != nullptr && *flag != 0; }

// While it lives, the run is saving what it has.
class Saving {
 public:
  explicit Saving(std::atomic<bool>* saving) : saving_(saving) { Set(true); }
  ~Saving() { Set(before_); }
  Saving(const Saving&) = delete;
  Saving& operator=(const Saving&) = delete;

 private:
  void Set(bool saving) {
    if (saving_ != nullptr) before_ = saving_->exchange(saving);
  }

  std::atomic<bool>* saving_;
  bool before_ = false;
};

// One call of TrainSession().
class TrainingRun {
 public:
  TrainingRun(SessionParts& session, const std::string& folder, RunObserver& observer,
              const RunSignals& signals)
      : session_(session),
        spec_(*session.model.train),
        folder_(folder),
        by_group_(session.groups != nullptr),
        observer_(observer),
        signals_(signals),
        state_(std::move(session.state)),  // a number a sample, with auc: not twice
        checkpoint_(session.engine(), state_, MetadataOf(session, folder),
                    /*writes=*/!folder.empty()),
        due_(spec_, signals_.checkpoint),
        divergence_(session, Place(), folder.size() + kPathRoom),
        start_(std::chrono::steady_clock::now()) {
    result_.resumed_step = state_.step;
    result_.left_out = session_.data.sets.left_out;
    if (!by_group_) load_.emplace();
    ReserveReport();
    session.engine().StopAt(signals.stop_now);
    if (session.options.checkpoint.empty()) return;
    if (checkpoints_) NoteSaved();
    owes_evaluation_ = OwesEvaluation();
    // A checkpoint knows nothing of an evaluation that comes after it: it is written anew.
    if (!owes_evaluation_) due_.Written(state_.step);
  }

  // Throws RunStopped where a signal ends it within a step.
  TrainResult Run() {
    if (state_.step == 0) {
      WriteCheckpoint();
    } else {
      result_.stopped_early = IsStopped(session_, state_);
      if (owes_evaluation_) {
        RunEpoch();
      } else if (Done() && !result_.interrupted) {
        EvaluateAgain();
      }
    }
    NoteTime();
    while (!Done()) RunEpoch();
    return Finish();
  }

 private:
  // Returns whether the part of the run before this one was stopped where it was to be evaluated.
  bool OwesEvaluation() const {
    if (!HasBatches()) return true;
    const bool was_due = IsAtItsEnd() || due_.Evaluation(state_.step);
    return was_due && log_ && log_->last_step() != state_.step;
  }
  // Without a folder no file needs any.
  static SafetensorsMetadata MetadataOf(const SessionParts& session, const std::string& folder) {
    if (folder.empty()) return {};
    SafetensorsMetadata metadata = ClassMetadata(session.data.class_names);
    metadata.merge(DataMetadata(session));
    return metadata;
  }
  static double Seconds(std::chrono::steady_clock::time_point since) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
  }

  // A run that has done all its steps cannot be interrupted any more.
  bool Done() {
    if (result_.stopped_early || IsAtItsEnd()) return true;
    if (IsSet(signals_.stop)) result_.interrupted = true;
    return result_.interrupted;
  }

  bool IsAtItsEnd() const {
    if (spec_.seconds) return state_.seconds >= spec_.seconds->value;
    return state_.step >= session_.length.total_steps;
  }

  // From where the state is, which after a resumption is in the midst of an epoch.
  void RunEpoch() {
    Split& split = *session_.data.train;
    Loader& loader = split.source->loader();
    epoch_start_ = std::chrono::steady_clock::now();
    aside_seconds_ = 0;
    stall_before_ = loader.stall_seconds();
    samples_before_ = state_.samples;
    steps_before_ = state_.step;
    loader.StartEpoch(state_.epoch, state_.batch);
    if (state_.batch == 0) session_.recurrent.ResetTraining(session_.engine());
    split.runner->GoOnFrom(state_.totals, state_.samples);
    for (PassResult& pass : report_.evaluations) pass.samples = 0;  // of weights that change now
    const Accumulation& accumulation = session_.length.accumulation;
    if (std::exchange(owes_evaluation_, false)) {
      session_.rates.Set(state_.step - 1);
      NoteRates();
      if (HasBatches() && !IsAtItsEnd()) AfterStep();
    }
    while (HasBatches() && !(accumulation.BeginsStep(state_.batch) && Done())) {
      const Batch* batch = loader.Next();
      if (batch == nullptr) break;
      RunBatch(*batch);
      if (accumulation.BeginsStep(state_.batch) && HasBatches() && !Done()) AfterStep();
    }
    FillReport();
    train_samples_ += report_.train.timed_samples;
    result_.train_seconds += report_.train.seconds;
    result_.stall_seconds += report_.train.stall_seconds;
    if (!result_.interrupted) EndEpoch();
  }

  TrainingPlace Place() const { return {state_.epoch, state_.batch, state_.step}; }
  bool HasBatches() const { return state_.batch < session_.length.batches_per_epoch; }

  void RunBatch(const Batch& batch) {
    BatchRunner& runner = *session_.data.train->runner;
    session_.rates.Set(state_.step);
    const StepPart part = session_.length.accumulation.PartOf(state_.batch, state_.step);
    state_checked_ = false;
    const auto begin = std::chrono::steady_clock::now();
    const int entry = runner.Run(batch, part, session_.rates.feeds());
    NoteStep(entry, Seconds(begin));
    if (session_.kept) session_.kept->Take(session_.engine(), entry);
    divergence_.CheckLosses(batch, Place());
    state_.step += part.updates;
    ++state_.batch;
    state_.samples = runner.samples();
    runner.SaveTotals(state_.totals);
    NoteRates();
    NoteTime();
    ReportStep(runner.RunningMeans());
    if (part.updates && !heap_ && !by_group_) {
      heap_ = CurrentHeapUse();  // allocations from here on are counted
    }
  }

  void NoteRates() {
    for (size_t i = 0; i < std::min(report_.rates.size(), session_.rates.feeds().size()); ++i) {
      report_.rates[i].value = session_.rates.feeds()[i].rate;
    }
  }

  // Times steps of one entry point: others have other work to do. The first step has more.
  void NoteStep(int entry, double seconds) {
    if (!timed_entry_) {
      timed_entry_ = entry;
    } else if (*timed_entry_ == entry) {
      step_times_.Add(seconds);
    }
  }

  void ReportStep(const std::vector<NamedNumber>& means) {
    observer_.OnStep({.epoch = state_.epoch,
                      .batch = state_.batch,
                      .batches = session_.length.batches_per_epoch,
                      .step = state_.step,
                      .total_steps = session_.length.total_steps,
                      .samples = state_.samples,
                      .seconds = EpochSeconds(),
                      .timed_samples = state_.samples - samples_before_,
                      .timed_steps = state_.step - steps_before_,
                      .means = &means});
  }

  void FillReport() {
    const Split& split = *session_.data.train;
    split.runner->Report("train", report_.train);
    report_.train.timed_samples = report_.train.samples - samples_before_;
    report_.train.seconds = EpochSeconds();
    report_.train.stall_seconds = split.source->loader().stall_seconds() - stall_before_;
    report_.epoch = state_.epoch;
    report_.step = state_.step;
  }

  // The seconds that went into training.
  double EpochSeconds() const { return Seconds(epoch_start_) - aside_seconds_; }

  // Does what is due between two steps of an epoch.
  void AfterStep() {
    const auto begin = std::chrono::steady_clock::now();
    if (due_.Evaluation(state_.step)) {
      FillReport();
      Evaluate();
      if (result_.interrupted) return;
    }
    if (due_.Checkpoint(state_.step)) WriteCheckpoint();
    aside_seconds_ += Seconds(begin);
  }

  // The state moves on to the next epoch before the checkpoint is written, so that a resumed run
  // begins there.
  void EndEpoch() {
    const bool whole = !HasBatches();
    if (due_.is_evaluated(state_.step)) {
      // AfterStep() has evaluated after this step, which was the last of the epoch.
    } else if (due_.EvaluationAtEnd(state_.step) || Done()) {
      Evaluate();
      if (result_.interrupted) return;
    } else {
      for (PassResult& pass : report_.evaluations) pass.samples = 0;
      Log();
    }
    if (whole) {
      ++state_.epoch;
      state_.batch = state_.samples = 0;
      std::fill(state_.totals.begin(), state_.totals.end(), 0.0);
    }
    NoteTime();
    if (due_.CheckpointAtEnd(state_.step)) WriteCheckpoint();
  }

  // `valid`, or `test` where the file has no `valid`; null where it has neither.
  Split* EpochSplit() {
    Split* split = session_.data.Find("valid");
    return split != nullptr ? split : session_.data.Find("test");
  }

  // A signal ends it and the run: what goes on from there evaluates anew.
  void Evaluate() {
    CheckState();
    if (Split* split = EpochSplit()) {
      result_.interrupted = !RanToItsEnd(*split);
      if (result_.interrupted) return;
      Judge(report_.evaluations[0]);
    }
    due_.Evaluated(state_.step);
    Log();
  }

  // An evaluation changes no weights: it can stop within a batch. The last one has the time that a
  // step has.
  bool RanToItsEnd(Split& split) {
    const auto* stop = IsAtItsEnd() ? signals_.stop_now : signals_.stop;
    try {
      return RunEvaluation(session_, split, observer_, report_.evaluations[0], stop);
    } catch (const RunStopped&) {
      return false;
    }
  }

  // For the summary of a run that was killed after its last step.
  void EvaluateAgain() {
    if (Split* split = EpochSplit()) {
      RunEvaluation(session_, *split, observer_, report_.evaluations[0]);
    }
  }

  // Notes whether the model is the best so far, and whether it still grows better.
  void Judge(const PassResult& evaluation) {
    session_.rates.Observe(evaluation, state_.step);
    bool is_judged = true;
    const auto update = [&](const std::optional<WatchedNumber>& metric, BestSoFar& best) {
      if (!metric) return false;
      const double value = metric->In(evaluation.means);
      if (std::isnan(value) && is_judged) {
        is_judged = false;
        ++result_.unjudged;
        result_.unjudged_metric = metric->name;
      }
      return best.Take(value, metric->higher_is_better);
    };
    if (update(session_.watched.kept, state_.kept)) WriteBest();
    update(session_.watched.stopping, state_.stopping);
    result_.stopped_early = IsStopped(session_, state_);
  }

  void Log() {
    if (!by_group_) NoteMemory(session_);
    if (log_) log_->Write(report_);
    observer_.OnEpoch(report_);
  }

  // Takes what reports need, so that no step has to.
  void ReserveReport() {
    report_.epoch = state_.epoch;
    report_.step = state_.step;
    report_.rates = session_.rates.Columns();
    session_.data.train->runner->Report("train", report_.train);
    if (Split* split = EpochSplit()) {
      report_.evaluations.emplace_back();
      split->runner->Report(split->name, report_.evaluations[0]);
    }
    if (session_.data.Find("valid") != nullptr) test_ = session_.data.Find("test");
    if (test_ != nullptr) test_->runner->Report(test_->name, test_report_);
    if (folder_.empty()) return;
    log_.emplace(folder_, report_, state_.step);
    checkpoints_.emplace(folder_, spec_.keep_last ? spec_.keep_last->value : 0, state_.step);
    best_path_ = folder_ + "/" + kBestFileName;
  }

  void WriteCheckpoint() {
    if (signals_.checkpoint != nullptr) *signals_.checkpoint = 0;
    if (!checkpoints_ || due_.is_written(state_.step)) return;
    const Saving saving(signals_.saving);
    const auto begin = std::chrono::steady_clock::now();
    CompleteState();
    CheckState();
    checkpoint_.Write(checkpoints_->PathOf(state_.step), state_);
    checkpoints_->Keep(state_.step);
    checkpoint_seconds_ += Seconds(begin);
    ++checkpoints_written_;
    due_.Written(state_.step);
    NoteSaved();
    divergence_.RepeatFrom(checkpoints_->PathOf(state_.step), Place());
  }

  void NoteSaved() {
    if (signals_.saved_step != nullptr) *signals_.saved_step = state_.step;
  }

  void WriteBest() {
    observer_.OnBest();
    if (best_path_.empty()) return;
    const Saving saving(signals_.saving);
    CompleteState();
    CheckState();
    checkpoint_.Write(best_path_, state_);
  }

  // If time does not end the run, a checkpoint has no time in it, so that its bytes are always the
  // same. Otherwise it has the very time that decides whether the run is at its end.
  void NoteTime() {
    if (spec_.seconds) state_.seconds = session_.state.seconds + Seconds(start_);
  }

  void CompleteState() { session_.rates.Save(state_.schedules); }

  // Looks at the state once for all that want it after a step. Throws UserError if a batch has left
  // it not finite: such weights replace no good ones, and are not evaluated.
  void CheckState() {
    if (state_checked_) return;
    ++result_.state_checks;
    state_checked_ = checkpoint_.IsFinite();
    if (!state_checked_) divergence_.StateIsNotFinite(state_.step);
  }

  void CountAllocations() {
    if (!heap_) return;
    const HeapUse now = CurrentHeapUse();
    if (AllocationsAreCounted()) {
      result_.allocations_after_first_step = now.allocations - heap_->allocations;
      result_.pool_requests = now.pool_requests - heap_->pool_requests;
    }
    result_.heap_growth_bytes = now.heap_bytes - heap_->heap_bytes;
  }

  // The last evaluation and the last checkpoint allocate no more than a step. The checkpoint comes
  // first, so that it exists if the user ends the process during the evaluation.
  TrainResult Finish() {
    std::optional<Saving> saving;
    if (result_.interrupted) saving.emplace(signals_.saving);
    result_.seconds = Seconds(start_);
    result_.checkpoint_seconds = checkpoint_seconds_;
    result_.checkpoints = checkpoints_written_;
    const bool on_host = KindOfDevice(session_.engine().model().device).on_host;
    if (on_host && session_.options.compile.threads > 1) {
      result_.step_slowdown = step_times_.Slowdown();
    }
    if (on_host && load_) result_.others_share = load_->OthersShare();
    WriteCheckpoint();
    if (test_ != nullptr && !result_.interrupted) {
      RunEvaluation(session_, *test_, observer_, test_report_);
    }
    if (!by_group_) NoteMemory(session_);
    CountAllocations();
    if (session_.run.times != nullptr && session_.options.compile.arena_cap > 0) {
      result_.slowdown = SlowdownOf(session_.engine(), *session_.run.times);
    }
    if (session_.kept && !folder_.empty()) session_.kept->Write(session_.engine(), folder_);
    if (result_.stopped_early) result_.early_stop = DescribeStop(session_, state_);
    DescribeRun();
    result_.steps = state_.step;
    result_.epochs = state_.epoch + (state_.batch > 0 && !result_.interrupted);
    result_.last = std::move(report_);
    if (test_ != nullptr) result_.last.evaluations.push_back(std::move(test_report_));
    if (result_.train_seconds > 0) {
      result_.samples_per_second = static_cast<double>(train_samples_) / result_.train_seconds;
    }
    if (checkpoints_) result_.checkpoint = checkpoints_->PathOf(state_.step);
    if (!std::isnan(state_.kept.value)) NoteBest();
    result_.memory = session_.memory;
    result_.graph_analyses = AnalysisCount() - session_.analyses_before;
    result_.weights_hash = checkpoint_.StateHash();
    return std::move(result_);
  }

  void DescribeRun() {
    result_.model = session_.model.name.value;
    result_.device = session_.engine().model().device;
    result_.batch = session_.batch;
    result_.initial_weights = session_.weights_file;
    result_.loaded = session_.weights;
    if (session_.watched.kept) result_.best_metric = session_.watched.kept->name;
  }

  // A run that goes on may find that the file of the part before is lost.
  void NoteBest() {
    result_.best_value = state_.kept.value;
    if (best_path_.empty()) return;
    try {
      result_.best_place = PlaceOfWeights(best_path_);
      result_.best = best_path_;
    } catch (const UserError& error) {
      result_.lost_best = error.what();
    }
  }

  SessionParts& session_;
  const TrainSpec& spec_;
  const std::string folder_;
  const bool by_group_;  // of thousands of short runs, none looks at the process and the machine
  RunObserver& observer_;
  const RunSignals signals_;
  RunState state_;
  std::optional<RunLog> log_;                    // in the run folder …
  std::optional<CheckpointFolder> checkpoints_;  // … too
  std::string best_path_;
  CheckpointWriter checkpoint_;
  bool state_checked_ = false;  // the state as it is now is finite
  DueWork due_;
  Divergence divergence_;
  bool owes_evaluation_ = false;
  std::chrono::steady_clock::time_point start_;
  int64_t train_samples_ = 0;
  double checkpoint_seconds_ = 0;
  int64_t checkpoints_written_ = 0;
  std::optional<int> timed_entry_;  // whose steps are timed
  StepTimes step_times_;
  std::optional<MachineLoad> load_;  // since the run began
  std::chrono::steady_clock::time_point epoch_start_;
  double aside_seconds_ = 0;  // since then, of evaluations and checkpoints
  // Before this epoch, or what of it is left: the loader's waiting, samples of the epoch, steps.
  double stall_before_ = 0;
  int64_t samples_before_ = 0;
  int64_t steps_before_ = 0;
  std::optional<HeapUse> heap_;  // after the first step
  EpochReport report_;
  Split* test_ = nullptr;  // evaluated once, at the end, where there is a `valid` too
  PassResult test_report_;
  TrainResult result_;
};

}  // namespace

TrainResult TrainSession(SessionParts& session, const std::string& folder, RunObserver& observer,
                         const RunSignals& signals) {
  return TrainingRun(session, folder, observer, signals).Run();
}

}  // namespace cgrun
