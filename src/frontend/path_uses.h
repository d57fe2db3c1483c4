// A step runs paths of a model file in order, some of them several times.
#ifndef CGRUN_FRONTEND_PATH_USES_H_
#define CGRUN_FRONTEND_PATH_USES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/ir/graph.h"
#include "src/model/model_spec.h"

namespace cgrun {

// One run of a path in a step.
struct PathUse {
  const PathSpec* path = nullptr;  // of the model
  int64_t repetition = 0;          // in this step, from 0 …
  int64_t repetitions = 1;         // … of so many
  int64_t first = 0;               // index of the path's first use

  bool is_last() const { return repetition + 1 == repetitions; }
  // Unique in a step: the path's name; of uses before the last one "generate[0]".
  std::string Label() const;
};

// For training, the uses follow `train: {sequence: …}`. For other kinds, and without a sequence,
// every path runs once, in the file's order.
std::vector<PathUse> PathUses(const ModelSpec& model, EntryKind kind);

// The paths of which a step has no use among `uses`, as if they came behind those, in the file's
// order. Nothing runs them, but what is wrong with them is told.
std::vector<PathUse> LeftOutPaths(const ModelSpec& model, const std::vector<PathUse>& uses);

// Returns whether an item of the sequence names no path of the model, which CheckModel() reports.
bool SequenceNamesNoPath(const ModelSpec& model);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_PATH_USES_H_
