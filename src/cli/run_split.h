// The seed and the splits of the run that weights come from: an evaluation must not score what they
// were trained on.
#ifndef CGRUN_CLI_RUN_SPLIT_H_
#define CGRUN_CLI_RUN_SPLIT_H_

#include <filesystem>
#include <optional>
#include <string>

#include "src/cli/model_flags.h"
#include "src/model/model_spec.h"

namespace cgrun {

// The model of the run whose folder this is; nothing where there is none that can be read.
std::optional<ModelSpec> ModelOfRun(const std::filesystem::path& folder);

// If `weights` lie in a run folder, gives `model` the seed of that run, and the parts of the
// training data that the run kept for `valid` and `test`. Flags that set them, and files of the
// model's own, come first. Says what it has changed. Warns if `split`, which is evaluated, may hold
// samples that the run learned from.
void TakeSplitOfRun(const ModelFlags& flags, const std::string& weights, const std::string& split,
                    ModelSpec& model);

}  // namespace cgrun

#endif  // CGRUN_CLI_RUN_SPLIT_H_
