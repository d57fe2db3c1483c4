// Weights as users name them: which file is meant, and whether it fits. What is damaged in a run
// folder is warned of.
#ifndef CGRUN_CLI_WEIGHTS_FLAG_H_
#define CGRUN_CLI_WEIGHTS_FLAG_H_

#include <string>
#include <vector>

#include "src/model/model_spec.h"
#include "src/train/weights.h"

namespace CLI {
class App;
}

namespace cgrun {

// Warns of the files that are passed over because they are damaged; `taken` is used instead.
void WarnOfDamaged(const std::vector<std::string>& damaged, const std::string& taken);

// The file itself; of a folder the newest whole checkpoint, or with `best` its best model. Throws
// InputError where a folder has none.
std::string FindWeights(const std::string& file_or_folder, bool best = false);

// The flag of verbs that need a trained model.
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
