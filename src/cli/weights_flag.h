// --weights of verbs that need a trained model: which file is meant, and whether it fits.
#ifndef CGRUN_CLI_WEIGHTS_FLAG_H_
#define CGRUN_CLI_WEIGHTS_FLAG_H_

#include <string>

#include "src/model/model_spec.h"
#include "src/train/weights.h"

namespace CLI {
class App;
}

namespace cgrun {

void AddWeightsFlag(CLI::App& app, std::string& weights);

// The file that the flag names, or of the run folder that it names the best model, else the newest
// checkpoint. Where the flag is not given (""), the same of the model's own run folder, or the
// file that the model file names. InputError, which says what to give, where there is none.
std::string ChooseWeights(const ModelSpec& model, const std::string& flag);

// Parameters and statistics must all be in the file: what half-loaded weights compute means
// nothing. Prints what does not fit. Optimizer state is of no account here.
bool CheckWeights(const WeightsReport& report, const std::string& file);

}  // namespace cgrun

#endif  // CGRUN_CLI_WEIGHTS_FLAG_H_
