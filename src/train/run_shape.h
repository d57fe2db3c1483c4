// What a run of a model will need, told from its data alone: which entry points, how much host
// memory.
#ifndef CGRUN_TRAIN_RUN_SHAPE_H_
#define CGRUN_TRAIN_RUN_SHAPE_H_

#include <optional>
#include <string>
#include <vector>

#include "src/compile/compile.h"
#include "src/device/device.h"
#include "src/kernels/kernel.h"
#include "src/train/model_data.h"

namespace cgrun {

// What a file lacks that does not say how to train.
inline constexpr char kTrainHelp[] =
    "for example `train: {epochs: 1, batch: 32, optimizer: {op: sgd, lr: 0.1}}`";

// What a run takes of the host beside its arena and its base.
struct HostParts {
  int64_t decoded_bytes = 0;         // of all sets
  std::vector<const Dataset*> sets;  // that loaders go over
  int64_t batch = 1;
  std::optional<int64_t> checkpoint_state;  // bytes of what checkpoints hold; nothing: none
  int64_t kept_bytes = 0;                   // of copies that outlive the step
  int64_t opening_bytes = 0;     // the most that opening the sets took, decoded_bytes included …
  int64_t arena_bytes = 0;       // … when the arena, where it is the host's, was not there yet
  int64_t streamable_bytes = 0;  // of decoded_bytes, what could lie in files
};

// The same by what it is for.
struct HostUse {
  int64_t decoded = 0;      // data sets that are held decoded
  int64_t loaders = 0;      // buffers of batches, and the order of samples
  int64_t checkpoints = 0;  // copies that checkpoints are written from
  int64_t kept = 0;
  int64_t opening = 0;     // what opening data sets took beyond all that the run takes later
  int64_t streamable = 0;  // of `decoded`, what could lie in files

  int64_t total() const { return decoded + loaders + checkpoints + kept + opening; }
};
HostUse HostUseOf(const HostParts& parts);

// Whether no path has a loss or a metric: such a model is there to predict.
bool PredictsAlone(const ModelSpec& model);

struct RunShape {
  std::vector<EntryRequest> entries;
  ModelData data;         // open, as it is in a run
  HostParts host;         // without what the compiled model adds
  std::string data_note;  // why the samples are left out; empty where they are not
};

// The entry points that `train` compiles, or, of a model that predicts alone, the one of `predict`,
// for which no data is held. Where data files are not there, those of full batches,
// and a note that says so: a plan does not need the data. What is wrong with the data or with how
// learning rates change is reported as in a run; then the result is that of a model without data.
RunShape ShapeOfRun(const ModelSpec& model, Diagnostics& diagnostics);
// The same for data that is open.
RunShape ShapeOfRun(const ModelSpec& model, ModelData data);

// The memory that a run will take, as plans, checks and runs report it.
struct RunMemory {
  int64_t arena = 0;  // of the device
  int64_t data = 0;   // parts.total()
  int64_t base = 0;   // PlannedBase()
  bool on_host = true;
  HostUse parts = {};
  int64_t base_room = 0;  // of `base`, what rounding has added

  int64_t host() const { return (on_host ? arena : 0) + data + base; }
};
// The folder for the swap file that the model names, kSwapToHost, or "".
std::string SwapFolderOf(const ModelSpec& model);

// Measured in a child process where there can be one, so that `compiled` stays whole and nothing is
// left of it. Throws UserError.
RunMemory MemoryOfRun(CompiledModel& compiled, const RunShape& shape, const KernelLibrary& library);
// The same in this process: `compiled` loses its graphs, which a run does not keep either, and its
// kernels are prepared on `device`.
RunMemory MeasureRun(CompiledModel& compiled, const RunShape& shape, const KernelLibrary& library,
                     Device& device);

// Steps of a whole run; 0 where time ends it. An error, and nothing, where 64 bits do not count
// them.
std::optional<int64_t> TotalSteps(const ModelSpec& model, int64_t steps_per_epoch,
                                  Diagnostics& diagnostics);

// The anonymous memory that the process holds, in bytes, without `counted_bytes`, and without free
// heap and stack, which are given back.
int64_t MeasureBase(int64_t counted_bytes);

// The base of a run, in bytes: the program, libraries with their threads and buffers, the compiled
// code. A plan and a run both measure it when the data is open and the code is prepared, less the
// decoded data and arenas; room for what a run adds later (the stacks of its `loaders` threads,
// logs and reports) is added, and all is rounded up, by kBaseNoise at least: so pages more or less
// do not show, and what fits once fits again. `room` takes what rounding added.
int64_t PlannedBase(int64_t counted_bytes, int64_t loaders, int64_t* room = nullptr);
inline constexpr int64_t kBaseGrain = 512 << 10;
// By how much what processes measure differs, and as much again.
inline constexpr int64_t kBaseNoise = 64 << 10;
// What a run has been seen to take beyond what was measured of its base: a cap leaves it as room.
inline constexpr int64_t kBaseLeft = 320 << 10;

// The entry points of a training set and evaluation sets of these sizes; with one that only adds up
// gradients, where a step is `accumulate` batches of several.
std::vector<EntryRequest> TrainingEntries(int64_t batch, const std::vector<int64_t>& train_sizes,
                                          const std::vector<int64_t>& evaluation_sizes,
                                          int64_t accumulate = 1);

}  // namespace cgrun

#endif  // CGRUN_TRAIN_RUN_SHAPE_H_
