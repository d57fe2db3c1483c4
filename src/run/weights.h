// Loads weights from files: parameters, statistics and optimizer state of a model as safetensors.
#ifndef CGRUN_RUN_WEIGHTS_H_
#define CGRUN_RUN_WEIGHTS_H_

#include <string>
#include <vector>

#include "src/results/loaded_weights.h"
#include "src/run/engine.h"

namespace cgrun {

// Says which tensors of a file are taken.
enum class WeightsScope {
  kModel,  // parameters and statistics: an optimizer's state belongs to the run that it comes from
  kRun     // its optimizers' and its recurrent state, too: to go on with that run
};

// Whether a state is of a run, not of its model: of an optimizer, or recurrent.
bool IsRunState(Role role);

// Whether what a file has for a model, `fitting` of its `wanted` parameters and statistics, says
// nothing of whose weights they are: vectors alone, such as a "logits.bias" of 10 classes, where
// the model has weights of more axes.
bool FitByChance(const std::vector<TensorType>& fitting, const std::vector<TensorType>& wanted);

// Copies the tensors of a file into the states of their names, one by one: the file is never held
// as a whole. In a report, tensors stand in the order of the file, `missing` in that of the states.
// Tensors of a run's state (see checkpoint.h) are passed over. Throws UserError if the file cannot
// be read, or holds a number that is too large for the type of the state.
WeightsReport LoadWeights(Engine& engine, const std::string& path, WeightsScope scope);

}  // namespace cgrun

#endif  // CGRUN_RUN_WEIGHTS_H_
