// What a run of a model will need, told from its data alone: which entry points, how much host
// memory.
#ifndef CGRUN_TRAIN_RUN_SHAPE_H_
#define CGRUN_TRAIN_RUN_SHAPE_H_

#include <string>
#include <vector>

#include "src/compile/compile.h"
#include "src/train/model_data.h"

namespace cgrun {

struct RunShape {
  std::vector<EntryRequest> entries;
  ModelData data;          // open, as it is in a run
  int64_t data_bytes = 0;  // loader rings and decoded sets
  std::string data_note;   // why the data is not counted; empty where it is
};

// The entry points that `train` compiles. Where data files are not there, those of full batches,
// and a note that says so: a plan does not need the data. What is wrong with the data or with how
// learning rates change is reported as in a run; then the result is that of a model without data.
RunShape ShapeOfRun(const ModelSpec& model, Diagnostics& diagnostics);

// The base of a run, in bytes: the anonymous memory that the process holds once its data is open
// and its code is prepared, without the `counted_bytes` of decoded data and arenas: the program,
// libraries with their threads and buffers, the compiled code. A plan and a run both measure it
// there.
int64_t MeasureBase(int64_t counted_bytes);

// The entry points of a training set and evaluation sets of these sizes; with one that only adds up
// gradients, where a step is `accumulate` batches of several.
std::vector<EntryRequest> TrainingEntries(int64_t batch, const std::vector<int64_t>& train_sizes,
                                          const std::vector<int64_t>& evaluation_sizes,
                                          int64_t accumulate = 1);

}  // namespace cgrun

#endif  // CGRUN_TRAIN_RUN_SHAPE_H_
