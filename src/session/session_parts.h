// SessionParts: the data, the engine, the rates and the place of a session. The functions of this
// folder work on it; users see Session alone.
#ifndef CGRUN_SESSION_SESSION_PARTS_H_
#define CGRUN_SESSION_SESSION_PARTS_H_

#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/data/dataset.h"
#include "src/device/communicator.h"
#include "src/device/device.h"
#include "src/lint/label_uses.h"
#include "src/model_data/class_names.h"
#include "src/model_data/data_identity.h"
#include "src/model_data/group_table.h"
#include "src/model_data/model_data.h"
#include "src/results/train_result.h"
#include "src/run/accumulation.h"
#include "src/run/batch_runner.h"
#include "src/run/checkpoint.h"
#include "src/run/data_source.h"
#include "src/run/engine.h"
#include "src/run/kept_values.h"
#include "src/run/recurrent_states.h"
#include "src/run/state_image.h"
#include "src/run/watched_number.h"
#include "src/session/run_rates.h"
#include "src/session/session.h"

namespace cgrun {

// A data set that a session goes over.
struct Split {
  std::string name;
  std::shared_ptr<const Dataset> dataset;
  std::vector<std::string> inputs;     // by field
  std::unique_ptr<DataSource> source;  // MakeSplits() makes it, and the runner
  std::unique_ptr<BatchRunner> runner;
  std::optional<double> class_share = {};
};

struct SessionData {
  ModelData sets;
  std::optional<Split> train;
  std::vector<Split> evaluations;
  std::vector<LabelUse> label_uses;
  // The names in the training data; without training, those in the data that are evaluated.
  ClassNames class_names;
  std::optional<DataIdentity> identity;  // of the training data of a run that goes on
  DataFindings findings;  // of the training data; of an evaluation what its weights keep

  // Returns null where that split is not evaluated.
  Split* Find(const std::string& name);
  // Dataset::Notes() of all sets; without training, of those that are evaluated.
  std::vector<std::string> Notes() const;
};

// The engine, and what it needs to live. The engine goes first, the device last.
struct SessionEngine {
  std::shared_ptr<Device> device;
  SingleProcess communicator;
  std::unique_ptr<OperatorTimes> times;  // null where nobody asks for them
  std::unique_ptr<Engine> engine;        // null until it is made, and after an error
  const Program* program = nullptr;      // the engine's, in graph mode
  std::optional<MemoryLayout> layout;    // of a program that this session compiled
  std::string recompiled;                // says why a program that was given is not used
};

// Says how long a run trains.
struct RunLength {
  int64_t batches_per_epoch = 0;
  Accumulation accumulation;  // of batches to steps
  int64_t total_steps = 0;    // 0 where time ends the run
};

struct SessionParts {
  SessionParts(const ModelSpec& of_model, const SessionOptions& with_options);

  const ModelSpec& model;
  SessionOptions options;
  int64_t analyses_before;  // of this process
  bool trains = false;
  int64_t batch = 1;
  SessionEngine run;
  SessionData data;
  std::shared_ptr<const GroupTable> groups;  // of the data that the session opened, or null
  RunLength length;
  RunRates rates;
  WatchedNumbers watched;
  std::string weights_file;  // that the state was read from; "" without one
  WeightsReport weights;
  std::unique_ptr<KeptValues> kept;  // null where the model file keeps nothing
  RecurrentStates recurrent;
  RunState state;                     // training begins there
  std::optional<StateImage> initial;  // each group begins to train with it
  MemoryUse memory;

  Engine& engine() { return *run.engine; }
  const Engine& engine() const { return *run.engine; }
};

// Opens the data and notes what the training data have found out. If weights were trained with
// other words or categories, that is an error in a resumed run, else a warning. In a resumed run,
// other labels are an error, and other samples with the same labels a warning. Returns false after
// an error.
bool OpenData(SessionParts& session, bool train, Diagnostics& diagnostics);
// The metadata by which checkpoints know the training data.
SafetensorsMetadata DataMetadata(const SessionParts& session);

// Compiles the entry points, or prepares them for eager mode. Returns false after an error.
bool MakeEngine(SessionParts& session, Diagnostics& diagnostics);

// Throws MayNotFit, by a bound on what the forward graph of training makes of a run.
void CheckBound(const SessionParts& session, const Graph& forward);
// Notes the memory that the program's run will take, and throws NoRoom or MayNotFit if it does not
// keep the limits. Call it when the data is open and the kernels are prepared, but before the arena
// is taken.
void PlanMemoryOf(const ProgramImage& image, SessionParts& session);
// Measures the fixed memory anew when the engine is made, before weights and data are loaded.
void CountBase(SessionParts& session);
// In eager mode, notes what the run will hold beside its tensors, and throws as PlanMemoryOf()
// does. Call it when the weights are read, but before the loaders have their buffers.
void CountData(SessionParts& session);
void NoteMemory(SessionParts& session);

// Fewer than `batches` where options.limit_batches says so.
int64_t LimitBatches(const SessionParts& session, int64_t batches);

// Fills `result`; allocates only where that is empty. Returns false, with `result` as it was, as
// soon as `stop` is there and not 0.
bool RunEvaluation(SessionParts& session, Split& split, RunObserver& observer, PassResult& result,
                   const volatile std::sig_atomic_t* stop = nullptr);

// Returns whether `early_stop` has ended a run that is at `state`, and how.
bool IsStopped(const SessionParts& session, const RunState& state);
EarlyStop DescribeStop(const SessionParts& session, const RunState& state);

// Session::Train().
TrainResult TrainSession(SessionParts& session, const std::string& folder, RunObserver& observer,
                         const RunSignals& signals);

}  // namespace cgrun

#endif  // CGRUN_SESSION_SESSION_PARTS_H_
