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

class GroupTable;
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
  // Sessions one after the other can share a device, with the heap that it keeps, and data. Without
  // these a session opens its own. The data is what OpenModelData() gives for this model.
  std::shared_ptr<Device> shared_device;
  const ModelData* data = nullptr;
  bool profile = false;              // note how long each operator takes …
  bool trace = false;                // … and each run of one, which takes memory beside a cap
  std::optional<int64_t> base;       // of the plan that the run follows; nothing: a new one
  DebugRun* debug = nullptr;         // of a debugging run, which outlives the session
  bool dry_run = false;              // nothing will run: an arena of the host is left untouched
  std::optional<HostLimits> limits;  // of this process; nothing: as the host says
  // A run that comes near the limits is not begun: MayNotFit is thrown, where else NoRoom says what
  // takes too much.
  bool can_replan = false;
};

// The run may take more than there is. It can be planned under a cap.
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
  // session is not ready. Throws UserError for the rest (files), NoRoom or MayNotFit for memory.
  // `model` outlives it.
  Session(const ModelSpec& model, const SessionOptions& options, bool train,
          Diagnostics& diagnostics);
  Session(ModelSpec&& model, const SessionOptions& options, bool train,
          Diagnostics& diagnostics) = delete;
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool ready() const;
  // Returns how often the graph has been analysed since the session began, which means compiled and
  // planned, or prepared for eager mode. If a compiled program is run, it is 0.
  int64_t graph_analyses() const;
  // Returns why a compiled program that was given is not used. If it is used, or if none was given,
  // the result is empty.
  const std::string& recompiled() const;
  Engine& engine();
  const Engine& engine() const;
  // Returns the program of graph mode, or null in eager mode.
  const Program* program() const;
  // Returns the program's memory. It is null in eager mode, and for a program that was compiled
  // before.
  const MemoryLayout* layout() const;
  // Tells how long operators took so far; null without SessionOptions::profile.
  const OperatorTimes* times() const;
  const MemoryUse& memory() const;
  // Returns the values that the model file keeps, of entry points of the kind
  // options.compile.keeps. If it keeps nothing, the result is null.
  const KeptValues* kept() const;
  // HashOf() the training data, in hexadecimal digits. Throws UserError.
  std::string DataHash() const;
  // Returns the names in the training data. If none are open, they are those in the data that are
  // evaluated.
  const ClassNames& class_names() const;
  // Dataset::Notes() of all sets, or of those that are evaluated alone.
  std::vector<std::string> data_notes() const;
  // Returns the number of samples of a set that fill no whole batch of streams.
  int64_t LeftOutOf(const std::string& split) const;
  const WeightsReport& weights() const;
  // Returns the file of weights that the state was read from. It is the option's, or else that of
  // the model file. If that names a run folder, it is the newest one there. Without such a file,
  // and for a resumed run, it is "".
  const std::string& weights_file() const;
  int64_t batch() const;
  // Returns the steps of training, or 0 if time ends it.
  int64_t total_steps() const;
  int64_t steps_per_epoch() const;
  // Returns the groups of the data, or null where the model file has no `group_by`. A session by
  // groups runs on the data of one group after another: TakeGroup() comes before Train() or
  // Evaluate().
  const GroupTable* groups() const;
  // Takes the data of one group, which outlives its use, instead of the data before. The program
  // and its arena stay. A session that trains gets the states that it began with. Returns false
  // after an error, which goes to `diagnostics`.
  bool TakeGroup(const ModelData& data, Diagnostics& diagnostics);
  // Returns the state at which training begins.
  const RunState& run_state() const;
  // Returns whether `early_stop` has ended the run that is resumed, and how.
  bool IsStopped() const;
  EarlyStop DescribeStop() const;
  // Returns the rates that jump because the resumed run has another length than `before` gave it.
  // Only schedules that know the run's end have such jumps.
  std::vector<RateJump> RateJumps(const ModelSpec& before) const;

  // Trains as the model file says, from the start or from options.checkpoint on. `folder` takes
  // metrics.csv and checkpoints (empty: none are written).
  TrainResult Train(const std::string& folder, RunObserver& observer,
                    const RunSignals& signals = {});
  // Runs one pass over a split of options.evaluate that the model has.
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
