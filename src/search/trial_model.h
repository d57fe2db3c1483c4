// Makes the model of a trial: a base model takes the trial's settings.
#ifndef CGRUN_SEARCH_TRIAL_MODEL_H_
#define CGRUN_SEARCH_TRIAL_MODEL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/model/assignment.h"
#include "src/model_data/model_data.h"
#include "src/search/space.h"

namespace cgrun {

// The model files that a search names, as paths from the working directory.
std::vector<std::string> ModelFilesOf(const SearchSpec& search);

// Returns the model of a trial, which keeps the best evaluation by the search's metric. `common`
// are assignments of all trials; `expand` may be empty, as for LoadModelFile(). Errors are marked
// in the search file where it has set the value.
std::optional<ModelSpec> ModelOf(const SearchSpec& search, const Space& space,
                                 const Configuration& settings,
                                 const std::vector<Assignment>& common, const TreeExpander& expand,
                                 Diagnostics& diagnostics);

// Opens data sets, and keeps those of the last few models: most trials have the same.
class SharedData {
 public:
  // The result is null after an error.
  std::shared_ptr<const ModelData> Open(const ModelSpec& model, Diagnostics& diagnostics);

 private:
  struct Opened {
    std::string key;
    std::shared_ptr<const ModelData> data;
  };
  std::vector<Opened> opened_;  // the newest last
};

}  // namespace cgrun

#endif  // CGRUN_SEARCH_TRIAL_MODEL_H_
