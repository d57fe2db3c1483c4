// TrainGroups() trains a model for each group of a table, one after another, by one program in one
// arena.
#ifndef CGRUN_GROUPS_TRAIN_GROUPS_H_
#define CGRUN_GROUPS_TRAIN_GROUPS_H_

#include <cstdint>
#include <string>

#include "src/model/model_spec.h"
#include "src/results/group_result.h"
#include "src/session/session.h"

namespace cgrun {

struct GroupRunOptions {
  std::string folder;   // the run folder
  bool resume = false;  // goes on with the journal there
  bool dry_run = false;
};

// Sees a run by groups.
class GroupObserver {
 public:
  virtual ~GroupObserver() = default;
  // `done` of `count` groups were trained by a part of the run before this one.
  virtual void OnBegin(int64_t /*done*/, int64_t /*count*/) {}
  // A step of group `number` was done, of `count`.
  virtual void OnStep(int64_t /*number*/, int64_t /*count*/, const std::string& /*name*/,
                      const StepReport&) {}
  virtual void OnGroup(const GroupResult&, int64_t /*count*/) {}
};

// Trains the groups of a session by groups that are not in the journal yet. Each model begins with
// the states of the session and ends with the weights of a run on the rows of its group alone, bit
// for bit. A group that cannot be trained has its reason in the result.
//
// The run folder takes the weights and the index when all groups are done; until then a journal and
// the banks of weights tell what is done. `model` is that of the session. Throws UserError for
// files.
GroupsResult TrainGroups(Session& session, const ModelSpec& model, const GroupRunOptions& options,
                         GroupObserver& observer, const RunSignals& signals);

// Chooses what the groups of `result` are ranked by. The split is the one that says most about a
// model. The number is the metric of `keep_best` or `early_stop`, else the first loss or metric.
void ChooseMetric(const ModelSpec& model, GroupsResult& result);

// Returns the file of weights that the run in a folder began with, as its journal says; "" if there
// was none. Throws InputError if there is no journal.
std::string InitialWeightsOf(const std::string& folder);

}  // namespace cgrun

#endif  // CGRUN_GROUPS_TRAIN_GROUPS_H_
