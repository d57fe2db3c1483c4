// WeightsReport says which tensors of a file were loaded into a model.
#ifndef CGRUN_RESULTS_LOADED_WEIGHTS_H_
#define CGRUN_RESULTS_LOADED_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/base/dtype.h"

namespace cgrun {

struct WeightsReport {
  std::vector<std::string> loaded;
  // Counts the loaded tensors of another floating-point type, by that type and the model's.
  std::map<std::pair<DType, DType>, int64_t> converted = {};
  std::vector<std::string> not_finite;  // parameters and statistics with NaN or infinite numbers
  std::vector<std::string> missing;     // parameters and statistics that the file does not have
  // State of optimizers, and recurrent state, whose shape depends on the batch size: the file does
  // not have it, or not in that shape. WeightsScope::kRun alone fills it.
  std::vector<std::string> missing_run_state;
  std::vector<std::string> skipped;     // state of a run in the file, which kModel does not take
  std::vector<std::string> mismatched;  // "name: file f32[3], model f32[4]"
  std::vector<std::string> unused;      // tensors that the model does not have
  std::vector<std::string> left_out;    // tensors that the table `rename` leaves out
  std::string front;                    // was taken off in front of all names, "module."
  bool by_chance = false;               // see FitByChance()
};

}  // namespace cgrun

#endif  // CGRUN_RESULTS_LOADED_WEIGHTS_H_
