// Weights from files: parameters, statistics and optimizer state of a model as safetensors.
#ifndef CGRUN_TRAIN_WEIGHTS_H_
#define CGRUN_TRAIN_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/train/engine.h"

namespace cgrun {

// What of a file is taken.
enum class WeightsScope {
  kModel,  // parameters and statistics: an optimizer's state belongs to the run that it comes from
  kRun     // its optimizers' and its recurrent state, too: to go on with that run
};

struct WeightsReport {
  std::vector<std::string> loaded;
  // How many of them were of another floating-point type, by that and the model's.
  std::map<std::pair<DType, DType>, int64_t> converted = {};
  std::vector<std::string> not_finite;  // parameters and statistics with NaN or infinite numbers
  std::vector<std::string> missing;     // parameters and statistics that the file does not have
  // State of optimizers, and recurrent state, whose shape depends on the batch size: the file does
  // not have it, or not in that shape. Of kRun alone.
  std::vector<std::string> missing_run_state;
  std::vector<std::string> skipped;     // such state in the file, which kModel does not take
  std::vector<std::string> mismatched;  // "name: file f32[3], model f32[4]"
  std::vector<std::string> unused;      // tensors that the model does not have
  bool by_chance = false;               // see FitByChance()
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

#endif  // CGRUN_TRAIN_WEIGHTS_H_
