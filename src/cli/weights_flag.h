// Finds the file of the weights that a user names, and says whether it fits. A damaged file of a
// run folder gives a warning.
#ifndef CGRUN_CLI_WEIGHTS_FLAG_H_
#define CGRUN_CLI_WEIGHTS_FLAG_H_

#include <string>
#include <vector>

#include "src/cli/verb.h"
#include "src/model/model_spec.h"
#include "src/run/checkpoint.h"
#include "src/run/weights.h"

namespace cgrun {

// Warns of the files that are passed over because they are damaged; `taken` is used instead.
void WarnOfDamaged(const std::vector<std::string>& damaged, const std::string& taken);

// NewestWeights() and BestWeights(), with warnings of what is damaged. InputError where a folder
// has none that is whole.
std::string FindNewestWeights(const std::string& file_or_folder);
std::string FindBestWeights(const std::string& file_or_folder);

// The flag of verbs that need a trained model, which take its best weights.
void AddWeightsFlag(const Verb& verb, std::string& weights);
// The flag of verbs that begin with weights, the newest ones.
Flag AddStartWeightsFlag(const Verb& verb, std::string& weights);

// Returns the best weights of the file or run folder that the flag names. If the flag is not given
// (""), they are those of the model's own run folder, or those that the model file names. Throws
// InputError, which says what to give, where there are none.
std::string ChooseWeights(const ModelSpec& model, const std::string& flag);

// "runs/lenet/best.safetensors: step 84 of epoch 3, the best of its run; the last are in
// runs/lenet/checkpoint-112.safetensors", and whether that run has not ended. Throws UserError
// where the file cannot be read.
std::string WeightsText(const std::string& file);

// Parameters and statistics must all be in the file: what half-loaded weights compute means
// nothing. Prints what does not fit, and which other model's they are where a run folder says so.
// Optimizer state is of no account here.
bool CheckWeights(const WeightsReport& report, const std::string& file, const ModelSpec& model);

}  // namespace cgrun

#endif  // CGRUN_CLI_WEIGHTS_FLAG_H_
