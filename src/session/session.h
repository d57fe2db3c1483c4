// A session: a model's data opened, its entry points compiled together, its program ready to run.
// Train() and Evaluate() are what `cgrun train` and `cgrun eval` do.
#ifndef CGRUN_SESSION_SESSION_H_
#define CGRUN_SESSION_SESSION_H_

#include <atomic>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/compile/compile.h"
#include "src/fit/run_memory.h"
#include "src/lint/label_check.h"
#include "src/model_data/class_names.h"
#include "src/model_data/data_identity.h"
#include "src/model_data/model_data.h"
#include "src/results/train_result.h"
#include "src/run/batch_runner.h"
#include "src/run/checkpoint.h"
#include "src/run/data_source.h"
#include "src/run/kept_values.h"
#include "src/run/rate_schedule.h"
#include "src/run/recurrent_states.h"
#include "src/run/watched_number.h"
#include "src/run/weights.h"

namespace cgrun {

struct SessionOptions {
  std::string device = "reference";
  Mode mode = Mode::kGraph;
  CompileOptions compile;
  std::string weights;        // a file to start from; empty: what the model file names
  std::string checkpoint;     // a file to go on from, which has all weights; empty: a new run
  int64_t limit_batches = 0;  // of every pass over data; 0: all
  DataCap cap = DataCap::kOfRun;
  std::vector<std::string> evaluate = {"valid", "test"};  // the splits that are evaluated
  const ProgramImage* image = nullptr;  // a compiled program to use instead of compiling
  bool profile = false;                 // note how long each operator takes …
  bool trace = false;                   // … and each run of one, which takes memory beside a cap
  std::optional<int64_t> base;          // of the plan that the run follows; nothing: a new one
  std::optional<int64_t> free;          // bytes that the host has; nothing: as it says
  DebugRun* debug = nullptr;            // of a debugging run, which outlives the session
  bool dry_run = false;                 // nothing will run: an arena of the host is left untouched
  // A run that comes near these is not begun: MayNotFit is thrown. Nothing: it is begun.
  std::optional<HostLimits> limits;
};

// The run may take more than there is, as far as that is known before it is compiled. It can be
// planned under a cap.
class MayNotFit : public UserError {
 public:
  MayNotFit() : UserError("the run may take more memory than there is") {}
};

// Requests to a running training, and what it reports back. Null: none. A run looks at the requests
// after each step, at `stop` between the batches of an evaluation too, and at `stop_now` between
// two operators.
struct RunSignals {
  const volatile std::sig_atomic_t* stop = nullptr;  // not 0: it ends
  // Not 0: it ends within its step, which is lost. Set after `stop`.
  const volatile std::sig_atomic_t* stop_now = nullptr;
  volatile std::sig_atomic_t* checkpoint = nullptr;  // not 0: it writes one, and sets this to 0
  // Read by the signal handler, which may end the process: whether a file is being written, and the
  // step of the last checkpoint (−1: none).
  std::atomic<bool>* saving = nullptr;
  std::atomic<int64_t>* saved_step = nullptr;
};

class Session {
 public:
  // Opens data, compiles and prepares. Errors of the model file go to `diagnostics`: then the
  // session is not ready. Throws UserError for the rest (memory, files), MayNotFit where
  // options.limits ask for it. `model` outlives it.
  Session(const ModelSpec& model, const SessionOptions& options, bool train,
          Diagnostics& diagnostics);
  Session(ModelSpec&& model, const SessionOptions& options, bool train,
          Diagnostics& diagnostics) = delete;

  bool ready() const { return engine_ != nullptr; }
  // How often the graph has been analysed since the session began: compiled and planned, or
  // prepared for eager mode. 0 where a compiled program is run.
  int64_t graph_analyses() const;
  // Why a compiled program that was given is not used; empty where it is, or none was given.
  const std::string& recompiled() const { return recompiled_; }
  Engine& engine() { return *engine_; }
  const Engine& engine() const { return *engine_; }
  // Of graph mode; null in eager mode.
  const Program* program() const { return program_; }
  // Its memory; null in eager mode, and of a program that was compiled before.
  const MemoryLayout* layout() const { return layout_ ? &*layout_ : nullptr; }
  // What operators took so far; null without SessionOptions::profile.
  const OperatorTimes* times() const { return options_.profile ? times_.get() : nullptr; }
  const MemoryUse& memory() const { return memory_; }
  // What the model file keeps, of entry points of the kind options.compile.keeps; null where it
  // keeps nothing.
  const KeptValues* kept() const { return kept_.get(); }
  // HashOf() the training data, in hexadecimal digits. Throws UserError.
  std::string DataHash() const;
  // Of the training data; where there are none open, of the data that are evaluated.
  const ClassNames& class_names() const { return class_names_; }
  // What became of the data's files: Dataset::Notes() of all sets, or of those that are evaluated
  // alone.
  std::vector<std::string> data_notes() const;
  // Samples of a set that fill no whole batch of streams.
  int64_t LeftOutOf(const std::string& split) const;
  const WeightsReport& weights() const { return weights_; }
  // The file of weights that the state was read from: the option's, else that which the model file
  // names, of a run folder the newest; "" without one, and of a run that goes on.
  const std::string& weights_file() const { return weights_file_; }
  int64_t batch() const { return batch_; }
  // Of training; 0 where time ends it.
  int64_t total_steps() const { return total_steps_; }
  // Where training begins.
  const RunState& run_state() const { return run_state_; }
  // Whether `early_stop` has ended a run that is there, and how.
  bool IsStopped(const RunState& state) const;
  EarlyStop DescribeStop(const RunState& state) const;
  // Steps of an epoch.
  int64_t steps_per_epoch() const { return accumulation_.steps_per_epoch(); }
  // Of a run that goes on: where a schedule that knows its end has rates that jump, because the run
  // that went by `before` so far has another length now.
  std::vector<RateJump> RateJumps(const ModelSpec& before) const;
  // By what the best model is told; nothing where there is no `valid`.
  std::string kept_metric() const { return kept_metric_ ? kept_metric_->name : ""; }

  // Trains as the model file says, from the start or from options.checkpoint on. `folder` takes
  // metrics.csv and checkpoints (empty: none are written).
  TrainResult Train(const std::string& folder, RunObserver& observer,
                    const RunSignals& signals = {});
  // One pass over a split of options.evaluate that the model has.
  PassResult Evaluate(const std::string& split, RunObserver& observer);
  // Frees the arenas, so that reports can use their memory. The session runs no more.
  void FreeArenas();
  // Looks at the process once more.
  const MemoryUse& MeasureMemory();

 private:
  struct Split {
    std::string name;
    std::shared_ptr<const Dataset> dataset;
    std::vector<std::string> inputs;
    std::unique_ptr<DataSource> source;
    std::unique_ptr<BatchRunner> runner;
    std::optional<double> class_share = {};
  };

  bool OpenData(bool train, Diagnostics& diagnostics);
  // Notes what the training data have found out. That weights were trained by other words or
  // categories is an error where a run goes on, else a warning. There other labels are an error,
  // and other samples with the same labels a warning.
  void TakeFindings(Diagnostics& diagnostics);
  // Where the split that is evaluated is a part of training data that the weights do not know.
  void WarnOfOtherSplit(const std::optional<DataIdentity>& before, Diagnostics& diagnostics) const;
  // What checkpoints keep of the training data.
  SafetensorsMetadata DataMetadata() const;
  // The option's weights, else those that the model file names.
  void ChooseWeights(Diagnostics& diagnostics);
  bool MakeEngine(const KernelLibrary& library, Diagnostics& diagnostics);
  std::optional<ProgramImage> MakeImage(const KernelLibrary& library, Diagnostics& diagnostics);
  // Reads weights_file().
  void ReadWeights(Diagnostics& diagnostics);
  // Labels that name no class are errors, where the data knows its labels.
  void CheckLabelRanges(bool train, Diagnostics& diagnostics);
  bool ReadLength(Diagnostics& diagnostics);
  bool ReadSchedules(Diagnostics& diagnostics);
  std::vector<EntryRequest> Requests() const;
  int64_t LimitBatches(int64_t batches) const;
  void KeepValues();
  // Notes what the run will hold beside its arena, and throws UserError where all of it together is
  // more than there is: the device has looked at the arena alone.
  void CountMemory();
  // What the run holds of the host beside arena and base; `states` are those of its program.
  HostUse DataUse(const std::vector<ImageState>& states) const;
  // Throws MayNotFit, by a bound on what the forward graph of training makes of a run.
  void CheckLimits(const Graph& forward) const;
  void MakeSplits();
  // Fills `result`; allocates only where that is empty. Returns false, with `result` as it was, as
  // soon as `stop` is there and not 0.
  bool RunEvaluation(Split& split, RunObserver& observer, PassResult& result,
                     const volatile std::sig_atomic_t* stop = nullptr);
  // The metrics of `keep_best` and `early_stop`.
  void ReadWatchedMetrics(Diagnostics& diagnostics);
  // The state of the schedules that watch a metric, into and from numbers of a checkpoint.
  size_t ScheduleNumbers() const;
  void SaveSchedules(std::vector<double>& numbers) const;
  void RestoreSchedules(const std::vector<double>& numbers);
  // Throws UserError where the checkpoint's epoch has more batches or samples than the data have.
  void CheckPlace() const;
  void SetRates(int64_t step);
  // EpochReport::rates, their values still unset.
  std::vector<NamedNumber> RateColumns() const;
  // For schedules that wait for progress: the evaluation of `valid` after `step` steps.
  void ObserveEvaluation(const PassResult& result, int64_t step);
  int64_t BaseOfNow() const;
  void NoteMemory();
  Split* FindSplit(const std::string& name);
  friend class Divergence;
  friend class TrainingRun;
  friend class TrainingReplay;

  const ModelSpec& model_;
  SessionOptions options_;
  int64_t analyses_before_ = 0;  // of this process
  int64_t batch_ = 1;
  ModelData data_;
  std::optional<Split> train_;
  std::vector<Split> evaluations_;
  std::vector<LabelUse> label_uses_;
  ClassNames class_names_;
  std::optional<DataIdentity> identity_;  // of the training data of a run that goes on
  DataFindings findings_;  // of the training data; of an evaluation what its weights keep
  std::unique_ptr<KeptValues> kept_;
  RecurrentStates recurrent_;
  std::string recompiled_;
  std::unique_ptr<Device> device_;
  SingleProcess communicator_;
  std::unique_ptr<OperatorTimes> times_;
  std::unique_ptr<Engine> engine_;
  const Program* program_ = nullptr;  // the engine's, in graph mode
  std::optional<MemoryLayout> layout_;
  int64_t batches_per_epoch_ = 0;        // of training
  Accumulation accumulation_;            // of them to steps
  int64_t total_steps_ = 0;              // 0 where time ends the run
  std::vector<RateSchedule> schedules_;  // one a rate feed
  std::vector<RateFeed> rates_;
  std::vector<PathSchedule> path_schedules_;  // as the file has them
  std::optional<WatchedNumber> kept_metric_, stop_metric_;
  std::string weights_file_;
  WeightsReport weights_;
  RunState run_state_;
  MemoryUse memory_;
};

}  // namespace cgrun

#endif  // CGRUN_SESSION_SESSION_H_
