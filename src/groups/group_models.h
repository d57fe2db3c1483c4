// GroupModels holds the trained models of a run by groups, for evaluation and prediction.
#ifndef CGRUN_GROUPS_GROUP_MODELS_H_
#define CGRUN_GROUPS_GROUP_MODELS_H_

#include <string>

#include "src/groups/group_bank.h"
#include "src/groups/group_index.h"

namespace cgrun {

struct GroupModels {
  std::string folder;  // of the run
  std::string file;    // of its weights
  GroupIndex index;
  GroupBank bank;
};

// Opens the models of a run folder, or of one of its two files of weights. For a folder these are
// the best weights, else the last. Throws InputError where there are none, such as of a run that
// has not ended, and UserError where a file cannot be read.
GroupModels OpenGroupModels(const std::string& file_or_folder);

}  // namespace cgrun

#endif  // CGRUN_GROUPS_GROUP_MODELS_H_
