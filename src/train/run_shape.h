// What a run of a model will need, told from its data alone: which entry points, how much host
// memory.
#ifndef CGRUN_TRAIN_RUN_SHAPE_H_
#define CGRUN_TRAIN_RUN_SHAPE_H_

#include <string>
#include <vector>

#include "src/compile/compile.h"

namespace cgrun {

struct RunShape {
  std::vector<EntryRequest> entries;
  int64_t data_bytes = 0;  // loader rings and decoded sets
  std::string data_note;   // why the data is not counted; empty where it is
};

// The entry points that `train` compiles. Where the data cannot be opened, those of full batches,
// and a note that says so: a plan does not need the data.
RunShape ShapeOfRun(const ModelSpec& model);

// The entry points of a training set and evaluation sets of these sizes.
std::vector<EntryRequest> TrainingEntries(int64_t batch, const std::vector<int64_t>& train_sizes,
                                          const std::vector<int64_t>& evaluation_sizes);

}  // namespace cgrun

#endif  // CGRUN_TRAIN_RUN_SHAPE_H_
