// Finds the differences of two model files, and tells whether weights were trained with the network
// that reads them.
#ifndef CGRUN_CLI_MODEL_DIFFERENCES_H_
#define CGRUN_CLI_MODEL_DIFFERENCES_H_

#include <string>
#include <vector>

#include "src/cli/model_flags.h"
#include "src/model/model_spec.h"

namespace cgrun {

inline constexpr char kNoValue[] = "none";

// A key of the model file with two values, as people write them.
struct Difference {
  std::string key;          // with dots
  std::string before, now;  // kNoValue where it is not given
};

// Compares all settings, defaults too.
std::vector<Difference> DifferencesOf(const ModelSpec& before, const ModelSpec& now);

// For what weights are taken. To predictions no loss matters.
enum class WeightsUse { kEvaluate, kPredict };

// Warns where `weights` lie in a run folder whose model has another network than `model`, though
// they fit both: then `model` computes other values than those that were trained. Settings that
// matter only in training do not count, such as initial values, frozen parameters, the rate of a
// dropout, or the weight and the label smoothing of a loss. Differences that flags set are meant,
// and do not count.
void WarnOfOtherNetwork(const ModelFlags& flags, const ModelSpec& model, const std::string& weights,
                        WeightsUse use);

}  // namespace cgrun

#endif  // CGRUN_CLI_MODEL_DIFFERENCES_H_
