// Finds out from its data what a run of a model will need: entry points and host memory.
#ifndef CGRUN_FIT_RUN_SHAPE_H_
#define CGRUN_FIT_RUN_SHAPE_H_

#include <optional>
#include <string>
#include <vector>

#include "src/compile/compile.h"
#include "src/device/device.h"
#include "src/fit/run_memory.h"
#include "src/kernels/kernel.h"
#include "src/model_data/group_table.h"
#include "src/model_data/model_data.h"

namespace cgrun {

// Shows what to add to a file that does not say how to train.
inline constexpr char kTrainHelp[] =
    "for example `train: {epochs: 1, batch: 32, optimizer: {op: sgd, lr: 0.1}}`";

// Counts the host memory that a run takes beside its arena and its fixed memory.
struct HostParts {
  int64_t decoded_bytes = 0;          // of all sets
  std::vector<const Dataset*> sets;   // that loaders go over
  const Dataset* shuffled = nullptr;  // the one of them that is gone over in random order, if any
  int64_t batch = 1;
  int64_t state_copy = 0;        // StateCopyBytes()
  bool saves = false;            // whether checkpoints are written
  int64_t kept_bytes = 0;        // of copies that outlive the step
  int64_t streamable_bytes = 0;  // of decoded_bytes, what could lie in files
};

// The same by what it is for.
HostUse HostUseOf(const HostParts& parts);

// The most bytes of the host's memory that one state takes beside its place in the arena: to get
// its initial value, to be loaded or to be saved.
int64_t StateCopyBytes(const std::vector<ImageState>& states, std::string_view device);

// Returns whether some kernel of a program is oneDNN's.
bool CallsOneDnn(const ProgramImage& image, const KernelLibrary& library);

// Returns whether no path has a loss or a metric: such a model is there to predict.
bool PredictsAlone(const ModelSpec& model);

struct RunShape {
  std::vector<EntryRequest> entries;
  ModelData data;         // open, as it is in a run
  HostParts host;         // without what the compiled model adds
  std::string data_note;  // says why the samples are left out; empty if they are not
};

// Returns the entry points that `train` compiles. A model that only predicts has the entry point of
// `predict`, for which no data is open. If data files are missing, the result has entry points of
// full batches and a note that says so, because a plan does not need the data. Faults of the data
// or of the rate schedules are reported as in a run. Then the result is that of a model without
// data.
RunShape ShapeOfRun(const ModelSpec& model, Diagnostics& diagnostics);
// The same for data that is open.
RunShape ShapeOfRun(const ModelSpec& model, ModelData data);

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

// The entry points that training the groups of a table needs.
std::vector<EntryRequest> GroupEntries(int64_t batch, const GroupTable& groups, int64_t accumulate);

// The host memory that holds the weights of all groups, in bytes: parameters and statistics, twice
// where the best ones are kept beside the last. Without groups (null) it is 0.
int64_t GroupWeightsBytes(const std::vector<ImageState>& states, const GroupTable* groups);
// Adds a copy of the states that training begins with, and what a run keeps of the results of
// groups, and their texts.
int64_t GroupBytes(const std::vector<ImageState>& states, const GroupTable* groups);

// The entry points of a training set and evaluation sets of these sizes; with one that only adds up
// gradients, where a step is `accumulate` batches of several.
std::vector<EntryRequest> TrainingEntries(int64_t batch, const std::vector<int64_t>& train_sizes,
                                          const std::vector<int64_t>& evaluation_sizes,
                                          int64_t accumulate = 1);

}  // namespace cgrun

#endif  // CGRUN_FIT_RUN_SHAPE_H_
