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
#include "src/device/host_limits.h"
#include "src/model_data/class_names.h"
#include "src/model_data/model_data.h"
#include "src/results/train_result.h"
#include "src/run/checkpoint.h"
#include "src/run/engine.h"
#include "src/run/rate_schedule.h"

namespace cgrun {

class KeptValues;
struct SessionParts;

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
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool ready() const;
  // How often the graph has been analysed since the session began: compiled and planned, or
  // prepared for eager mode. 0 where a compiled program is run.
  int64_t graph_analyses() const;
  // Why a compiled program that was given is not used; empty where it is, or none was given.
  const std::string& recompiled() const;
  Engine& engine();
  const Engine& engine() const;
  // Graph mode has a program; null in eager mode.
  const Program* program() const;
  // The program's memory; null in eager mode, and for a program that was compiled before.
  const MemoryLayout* layout() const;
  // Tells how long operators took so far; null without SessionOptions::profile.
  const OperatorTimes* times() const;
  const MemoryUse& memory() const;
  // The values that the model file keeps, of entry points of the kind options.compile.keeps; null
  // where it keeps nothing.
  const KeptValues* kept() const;
  // HashOf() the training data, in hexadecimal digits. Throws UserError.
  std::string DataHash() const;
  // The names in the training data; where none are open, those in the data that are evaluated.
  const ClassNames& class_names() const;
  // Dataset::Notes() of all sets, or of those that are evaluated alone.
  std::vector<std::string> data_notes() const;
  // Samples of a set that fill no whole batch of streams.
  int64_t LeftOutOf(const std::string& split) const;
  const WeightsReport& weights() const;
  // The file of weights that the state was read from: the option's, else that which the model file
  // names, of a run folder the newest; "" without one, and of a run that goes on.
  const std::string& weights_file() const;
  int64_t batch() const;
  // The steps of training; 0 where time ends it.
  int64_t total_steps() const;
  int64_t steps_per_epoch() const;
  // Where training begins.
  const RunState& run_state() const;
  // Whether `early_stop` has ended the run that goes on, and how.
  bool IsStopped() const;
  EarlyStop DescribeStop() const;
  // If the run that goes on has another length than `before` gave it: the rates that jump, of
  // schedules that know the run's end.
  std::vector<RateJump> RateJumps(const ModelSpec& before) const;

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
  std::unique_ptr<SessionParts> parts_;
};

}  // namespace cgrun

#endif  // CGRUN_SESSION_SESSION_H_
