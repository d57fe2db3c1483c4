// The optimizer by which a path learns, and the key of the model file that it stands under.
#ifndef CGRUN_RUN_PATH_OPTIMIZER_H_
#define CGRUN_RUN_PATH_OPTIMIZER_H_

#include <optional>
#include <string>

#include "src/model/model_spec.h"

namespace cgrun {

struct PathOptimizer {
  const OpSpec* op;  // of the model
  std::string key;   // "train.optimizer", "paths.read.optimizer", "gan.optimizer.generator"
};

// Returns the optimizer of `path` itself, or else that of `train`. Returns nothing for a path that
// learns nothing, or that lacks an optimizer.
std::optional<PathOptimizer> OptimizerOf(const ModelSpec& model, const PathSpec& path);

// Returns help for a run whose numbers are not finite any more. It names settings of the optimizer
// of the path of that name, or of all paths ("").
std::string DivergenceHelp(const ModelSpec& model, const std::string& path);

}  // namespace cgrun

#endif  // CGRUN_RUN_PATH_OPTIMIZER_H_
