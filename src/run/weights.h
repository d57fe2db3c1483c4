// Loads weights from files: parameters, statistics and optimizer state of a model as safetensors.
#ifndef CGRUN_RUN_WEIGHTS_H_
#define CGRUN_RUN_WEIGHTS_H_

#include <string>
#include <vector>

#include "src/model/model_spec.h"
#include "src/results/loaded_weights.h"
#include "src/run/engine.h"

namespace cgrun {

// Says which tensors of a file are taken.
enum class WeightsScope {
  kModel,  // parameters and statistics: an optimizer's state belongs to the run that it comes from
  kRun     // its optimizers' and its recurrent state, too: to go on with that run
};

// Returns whether a state belongs to a run and not to its model: it is recurrent, or an
// optimizer's.
bool IsRunState(Role role);

// Returns whether a file may fit a model by chance. The file has `fitting` of the `wanted`
// parameters and statistics. If they are vectors alone, such as a "logits.bias" of 10 classes, but
// the model has weights of more axes, they do not tell whose weights they are.
bool FitByChance(const std::vector<TensorType>& fitting, const std::vector<TensorType>& wanted);

// Copies the tensors of a file, of safetensors or of PyTorch, into the states of their names. Those
// are the names after `rename`, but that the name of a state stays. If all names have a front such
// as "module.", the names without it count, too. The file is never in memory as a whole. In a
// report, tensors stand in the order of the file, and `missing` in that of the states. Tensors of a
// run's state (see checkpoint.h) are skipped. Throws UserError if the file cannot be read, if two
// of its tensors get one name, or if it holds a number that is too large for the type of the state.
WeightsReport LoadWeights(Engine& engine, const std::string& path, WeightsScope scope,
                          const std::vector<RenameRule>& rename = {});

}  // namespace cgrun

#endif  // CGRUN_RUN_WEIGHTS_H_
