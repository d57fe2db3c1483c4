// Session::Train: epochs of steps, an evaluation after each, the log and the final checkpoint.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>

#include "src/base/allocation_counter.h"
#include "src/base/check.h"
#include "src/data/sampler.h"
#include "src/train/metrics_log.h"
#include "src/train/session.h"

namespace cgrun {
namespace {

constexpr size_t kCheckpointNameRoom = 64;

// Appends "checkpoint-12.safetensors" to text that has room for it.
void AppendCheckpointName(int64_t steps, std::string& path) {
  char digits[24];
  path += "checkpoint-";
  path.append(digits, std::to_chars(digits, std::end(digits), steps).ptr);
  path += ".safetensors";
}

}  // namespace

// One call of Session::Train.
class TrainingRun {
 public:
  TrainingRun(Session& session, const std::string& folder, SessionObserver& observer,
              const volatile std::sig_atomic_t* interrupt)
      : session_(session),
        folder_(folder),
        observer_(observer),
        interrupt_(interrupt),
        checkpoint_(*session.engine_) {
    ReserveReport();
  }

  TrainResult Run() {
    start_ = std::chrono::steady_clock::now();
    while (!Done()) {
      RunEpoch();
      if (!result_.interrupted) ++result_.epochs;
    }
    result_.seconds = Seconds(start_);
    Finish();
    return std::move(result_);
  }

 private:
  static double Seconds(std::chrono::steady_clock::time_point since) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
  }

  bool Done() {
    result_.interrupted = interrupt_ != nullptr && *interrupt_ != 0;
    if (result_.interrupted) return true;
    const auto& seconds = session_.model_.train->seconds;
    if (seconds) return Seconds(start_) >= seconds->value;
    return result_.steps >= session_.total_steps_;
  }

  void RunEpoch() {
    Session::Split& split = *session_.train_;
    Loader& loader = split.source->loader();
    const auto epoch_start = std::chrono::steady_clock::now();
    const double stall_before = loader.stall_seconds();
    loader.StartEpoch(result_.epochs);
    split.runner->Reset();
    for (PassResult& pass : report_.evaluations) pass.samples = 0;  // of weights that change now
    StepReport step{
        result_.epochs, 0, session_.batches_per_epoch_, 0, session_.total_steps_, 0, 0, 0, nullptr};
    while (step.batch < step.batches && !Done()) {
      const Batch* batch = loader.Next();
      if (batch == nullptr) break;
      session_.SetRates(result_.steps);
      split.runner->Run(*batch, result_.steps, session_.rates_);
      CheckLosses(*batch);
      ++result_.steps;
      ++step.batch;
      step.step = result_.steps;
      step.samples = split.runner->samples();
      step.seconds = Seconds(epoch_start);
      step.learning_rate = session_.rates_.empty() ? 0 : session_.rates_[0].rate;
      step.means = &split.runner->Means();
      observer_.OnStep(step);
      if (result_.steps == 1) AfterFirstStep();
    }
    report_.train.Fill(split.name, *split.runner);
    report_.train.seconds = Seconds(epoch_start);
    report_.train.stall_seconds = loader.stall_seconds() - stall_before;
    train_samples_ += report_.train.samples;
    train_seconds_ += report_.train.seconds;
    report_.epoch = result_.epochs;
    report_.step = result_.steps;
    if (interrupt_ != nullptr && *interrupt_ != 0) {
      result_.interrupted = true;
      if (log_ && report_.train.measured()) log_->Write(report_, step.learning_rate);
      return;  // at once: what people pressed Ctrl-C for
    }
    Evaluate();
    session_.NoteMemory();
    if (log_) log_->Write(report_, step.learning_rate);
    observer_.OnEpoch(report_);
  }

  // `valid`, or `test` where the file has no `valid`; null where it has neither.
  Session::Split* EpochSplit() {
    Session::Split* split = session_.FindSplit("valid");
    return split != nullptr ? split : session_.FindSplit("test");
  }

  void Evaluate() {
    Session::Split* split = EpochSplit();
    if (split != nullptr) session_.RunEvaluation(*split, observer_, report_.evaluations[0]);
  }

  // Takes what reports need, so that no step has to.
  void ReserveReport() {
    report_.train.Fill("train", *session_.train_->runner);
    if (Session::Split* split = EpochSplit()) {
      report_.evaluations.emplace_back();
      report_.evaluations[0].Fill(split->name, *split->runner);
    }
    if (session_.FindSplit("valid") != nullptr) test_ = session_.FindSplit("test");
    if (test_ != nullptr) test_report_.Fill(test_->name, *test_->runner);
    if (folder_.empty()) return;
    log_.emplace(folder_ + "/metrics.csv", report_);
    result_.checkpoint = folder_ + "/";
    result_.checkpoint.reserve(result_.checkpoint.size() + kCheckpointNameRoom);
  }

  void CheckLosses(const Batch& batch) const {
    const Session::Split& split = *session_.train_;
    const std::string* diverged_path = split.runner->diverged_path();
    if (diverged_path == nullptr) return;
    const std::string label =
        DescribeBadLabel(batch, *split.dataset, split.inputs, session_.label_uses_);
    throw UserError(
        "the loss of path '" + *diverged_path + "' is not finite in step " +
            std::to_string(result_.steps + 1) + " (epoch " + std::to_string(result_.epochs + 1) +
            ")",
        label.empty() ? "a smaller learning rate often helps: --set train.optimizer.lr=…" : label);
  }

  // What is allocated from here on is counted.
  void AfterFirstStep() { heap_ = CurrentHeapUse(); }

  void CountAllocations() {
    if (!heap_) return;
    const HeapUse now = CurrentHeapUse();
    if (AllocationsAreCounted()) {
      result_.allocations_after_first_step = now.allocations - heap_->allocations;
      result_.pool_requests = now.pool_requests - heap_->pool_requests;
    }
    result_.heap_growth_bytes = now.heap_bytes - heap_->heap_bytes;
  }

  // The last evaluation and the last checkpoint allocate no more than a step.
  void Finish() {
    if (test_ != nullptr && !result_.interrupted) {
      session_.RunEvaluation(*test_, observer_, test_report_);
    }
    session_.NoteMemory();
    if (!folder_.empty()) {
      AppendCheckpointName(result_.steps, result_.checkpoint);
      checkpoint_.Write(*session_.engine_, result_.checkpoint, result_.steps, result_.epochs);
    }
    CountAllocations();
    result_.last = std::move(report_);
    if (test_ != nullptr) result_.last.evaluations.push_back(std::move(test_report_));
    if (train_seconds_ > 0) {
      result_.samples_per_second = static_cast<double>(train_samples_) / train_seconds_;
    }
    result_.memory = session_.memory_;
    result_.weights_hash = session_.engine_->StateHash();
  }

  Session& session_;
  std::string folder_;
  SessionObserver& observer_;
  const volatile std::sig_atomic_t* interrupt_;
  std::optional<MetricsLog> log_;  // in the run folder
  CheckpointWriter checkpoint_;
  std::chrono::steady_clock::time_point start_;
  int64_t train_samples_ = 0;
  double train_seconds_ = 0;
  std::optional<HeapUse> heap_;  // after the first step
  EpochReport report_;
  Session::Split* test_ = nullptr;  // evaluated once, at the end, where there is a `valid` too
  PassResult test_report_;
  TrainResult result_;
};

TrainResult Session::Train(const std::string& folder, SessionObserver& observer,
                           const volatile std::sig_atomic_t* interrupt) {
  CGRUN_CHECK(ready() && train_.has_value()) << "this session cannot train";
  return TrainingRun(*this, folder, observer, interrupt).Run();
}

}  // namespace cgrun
