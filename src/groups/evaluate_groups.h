// EvaluateGroups() measures the models of all groups on the rows of their groups.
#ifndef CGRUN_GROUPS_EVALUATE_GROUPS_H_
#define CGRUN_GROUPS_EVALUATE_GROUPS_H_

#include <string>

#include "src/groups/group_models.h"
#include "src/groups/train_groups.h"

namespace cgrun {

// Runs a pass over `split` of each group. `session` is one by groups that does not train, of
// `model`. A group that cannot be measured has its reason in the result. Throws InputError where
// the weights are those of another model.
GroupsResult EvaluateGroups(Session& session, const ModelSpec& model, const GroupModels& models,
                            const std::string& split, GroupObserver& observer);

}  // namespace cgrun

#endif  // CGRUN_GROUPS_EVALUATE_GROUPS_H_
