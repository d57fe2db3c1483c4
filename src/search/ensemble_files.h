// The folder of an ensemble: its model file, its weights, and how it came about.
#ifndef CGRUN_SEARCH_ENSEMBLE_FILES_H_
#define CGRUN_SEARCH_ENSEMBLE_FILES_H_

#include <optional>
#include <span>
#include <string>

#include "src/results/search_result.h"
#include "src/search/ensemble_model.h"
#include "src/search/trial_plan.h"

namespace cgrun {

struct EnsembleSource {
  const MemberModel* member = nullptr;
  int64_t picks = 0;
  std::string weights;  // a file
};

// Writes the folder as a whole or not at all. `candidates` identifies those that the members were
// chosen from. Throws UserError for files, and if the model cannot be built or takes too much
// memory.
void WriteEnsemble(const EnsembleResult& result, std::span<const EnsembleSource> sources,
                   const std::string& candidates, const TrialPlace& place);

// Reads what a former call wrote. Returns nothing if it was of other candidates, or if a file is
// missing.
std::optional<EnsembleResult> ReadEnsemble(const std::string& folder,
                                           const std::string& candidates);

}  // namespace cgrun

#endif  // CGRUN_SEARCH_ENSEMBLE_FILES_H_
