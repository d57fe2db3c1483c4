// Checkpoints: all state of an engine but what evaluations keep for themselves, and of its run in
// one safetensors file, from which a run goes on bit for bit. The same state always gives the same
// bytes: there are no times in it.
#ifndef CGRUN_RUN_CHECKPOINT_H_
#define CGRUN_RUN_CHECKPOINT_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/io/safetensors.h"
#include "src/model/model_spec.h"
#include "src/results/train_result.h"
#include "src/run/engine.h"

namespace cgrun {

// Remembers the best evaluation so far.
struct BestSoFar {
  double value = std::numeric_limits<double>::quiet_NaN();  // NaN: there was none
  int64_t evaluations_since = 0;

  // Takes the value of another evaluation; whether it is the best so far. One that is not a number
  // never is.
  bool Take(double another, bool higher_is_better);
  friend bool operator==(const BestSoFar&, const BestSoFar&) = default;
};

// Says how far a run has come, beyond the engine's state.
struct RunState {
  int64_t step = 0;               // updates done
  int64_t epoch = 0;              // that it is in, from 0
  int64_t batch = 0;              // batches done in that epoch …
  int64_t samples = 0;            // … and their samples
  BestSoFar kept;                 // by `keep_best`
  BestSoFar stopping;             // by `early_stop`
  double seconds = 0;             // of the run so far, where time ends it; else 0
  std::vector<double> totals;     // of the epoch's losses and metrics: BatchRunner::SaveTotals()
  std::vector<double> schedules;  // state of the schedules of rates
};

// Whole numbers of a run's state, in the order in which checkpoints hold them.
struct RunCounters {
  int64_t step = 0;
  int64_t epoch = 0;
  int64_t batch = 0;
  int64_t samples = 0;
  int64_t kept_evaluations_since = 0;
  int64_t stopping_evaluations_since = 0;
};

// Writes checkpoints, again and again, without allocating after its construction. States are
// written from where the engine holds them. A state that does not lie there as files hold it is
// copied first, one at a time.
class CheckpointWriter {
 public:
  // `shape`: its vectors are as long as they will be. `metadata` is written beside the writer's
  // own. `engine` outlives the writer. Unless it `writes`, only the questions about the state are
  // answered, and there is no buffer.
  CheckpointWriter(const Engine& engine, const RunState& shape,
                   const SafetensorsMetadata& metadata = {}, bool writes = true);

  // Bytes of the file's buffer. The writer holds beside it a copy of the largest state that is
  // copied.
  static constexpr int64_t kBufferBytes = AtomicFile::kBufferBytes;

  // Returns whether all of the engine's state is finite.
  bool IsFinite();
  // Engine::StateHash(), by way of the writer's copy.
  uint64_t StateHash() { return engine_.StateHash(copy_); }
  // Writes PATH atomically, with a checksum of all of it. Throws UserError.
  void Write(std::string_view path, const RunState& state);

 private:
  class Source;

  std::span<const std::byte> StateBytes(size_t state);

  const Engine& engine_;
  std::optional<SafetensorsWriter> writer_;
  std::vector<size_t> states_;   // that are written: indices of the engine's
  std::vector<std::byte> copy_;  // of one of them
  RunCounters counters_;         // of the run's state
  std::vector<double> numbers_;
  SafetensorsMetadata metadata_;
};

// A tensor of that name is no parameter: it holds a part of a run's state.
bool IsRunTensor(std::string_view name);

// Sets the engine to the state that a checkpoint holds, and returns the state of its run. The
// vectors of the result are as long as those of `shape`. Throws UserError if the file is damaged or
// no checkpoint, if its place is one that no run can have, or if its name says another place.
// Throws UserError, too, if the checkpoint is of another model, and names what does not fit. After
// an error the engine must be thrown away.
RunState LoadCheckpoint(Engine& engine, const std::string& path, RunState shape);

// Knows the checkpoints of a run folder, and removes the old ones.
class CheckpointFolder {
 public:
  // Keeps the newest `keep` checkpoints. If `keep` is 0, it keeps the newest three and that of step
  // 0. Checkpoints beyond `step`, which a resumed run has not reached yet, do not count.
  CheckpointFolder(const std::string& folder, int64_t keep, int64_t step);

  // "runs/lenet/checkpoint-12.safetensors", valid until the next call. Neither function allocates.
  const std::string& PathOf(int64_t step);
  // Notes the checkpoint that has just been written, and removes those that are not kept any more.
  void Keep(int64_t step);

 private:
  const size_t keep_;
  const bool keep_first_;
  size_t folder_size_;  // characters of path_ that do not change
  std::string path_;
  std::vector<int64_t> steps_;  // ascending; with room for one more than are kept
};

struct CheckpointFile {
  int64_t step = 0;
  std::string path;
};
// Returns the files `checkpoint-STEP.safetensors` of a folder, by step. If the folder cannot be
// read, there are none.
std::vector<CheckpointFile> CheckpointsIn(const std::string& folder);

// The model of the best evaluation lies in this file of the run folder.
inline constexpr char kBestFileName[] = "best.safetensors";

// Returns the place in its run at which the file was written. If the file does not say so, such as
// that of another program, the result is empty. Throws UserError if the file cannot be read.
std::optional<WeightsPlace> PlaceOfWeights(const std::string& path);

// Returns the newest whole checkpoint of a folder. A checkpoint is whole if its checksum agrees,
// where it has one, and its counters agree with each other and with its name. `damaged` names the
// newer ones that are damaged, and says what is wrong. Throws InputError if there is no whole one.
std::string NewestCheckpoint(const std::string& folder, std::vector<std::string>& damaged);

// Finds the file of weights that a run begins with. Users name the file itself, or a run folder.
// For a folder it is the newest whole checkpoint, as above.
std::string NewestWeights(const std::string& file_or_folder, std::vector<std::string>& damaged);

// Does the same for the name that the key `weights` of a model file gives. If it names nothing, the
// result is "". Warns of damaged files.
std::string NewestWeightsOf(const ModelSpec& model, Diagnostics& diagnostics);

// Finds the file of weights for evaluation and prediction. Users name the file itself, or a run
// folder. For a folder it is the best model or else the newest checkpoint, whichever is whole
// first, as above.
std::string BestWeights(const std::string& file_or_folder, std::vector<std::string>& damaged);

}  // namespace cgrun

#endif  // CGRUN_RUN_CHECKPOINT_H_
