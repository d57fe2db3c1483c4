// Weights as users name them: a file, or a run folder. What is damaged in a folder is warned of.
#ifndef CGRUN_CLI_WEIGHTS_FLAG_H_
#define CGRUN_CLI_WEIGHTS_FLAG_H_

#include <string>
#include <vector>

namespace cgrun {

// Warns of the files that are passed over because they are damaged; `taken` is used instead.
void WarnOfDamaged(const std::vector<std::string>& damaged, const std::string& taken);

// The file itself; of a folder the newest whole checkpoint, or with `best` its best model. Throws
// InputError where a folder has none.
std::string FindWeights(const std::string& file_or_folder, bool best = false);

}  // namespace cgrun

#endif  // CGRUN_CLI_WEIGHTS_FLAG_H_
