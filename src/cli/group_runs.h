// `data.group_by` on the command line: a model for each group of a table, trained and measured.
#ifndef CGRUN_CLI_GROUP_RUNS_H_
#define CGRUN_CLI_GROUP_RUNS_H_

#include <chrono>
#include <string>

#include "src/cli/model_flags.h"
#include "src/groups/train_groups.h"
#include "src/report/progress.h"

namespace cgrun {

// Whether the rows of the model's data are trained group by group.
bool IsByGroup(const ModelSpec& model);

// Throws InputError where the model is by groups, of which `what` takes none: "`cgrun search`".
void RefuseGroups(const ModelSpec& model, const std::string& what);

// Throws InputError for flags and keys that a run by groups does not know.
void CheckGroupRun(const ModelSpec& model, const RunFlags& run_flags, bool profiles);

// Shows how far a run by groups is.
class GroupView final : public GroupObserver {
 public:
  GroupView();
  void OnBegin(int64_t done, int64_t count) override;
  void OnStep(int64_t number, int64_t count, const std::string& name,
              const StepReport& report) override;
  void OnGroup(const GroupResult& group, int64_t count) override;
  void Clear() { progress_.Clear(); }

 private:
  double Eta(int64_t count) const;  // seconds

  ProgressPrinter progress_;
  std::chrono::steady_clock::time_point start_;
  int64_t done_ = 0;  // groups
};

// Says how many groups a session has, and what their models take.
std::string GroupsOf(const Session& session);

// Trains the groups of a session in its run folder, which is there, writes what the run leaves and
// prints what came of it. Returns the exit status.
int TrainByGroups(Session& session, const ModelSpec& model, const GroupRunOptions& options);

// `cgrun eval` of a model by groups. `weights` names a run folder, or one of its files of weights;
// "": that of the model's name.
int EvaluateByGroups(const ModelFlags& flags, const RunFlags& run_flags, ModelSpec& model,
                     const std::string& weights, const std::string& split);

// The run folder that `weights` names, or, of "", that of the model's name.
std::string GroupFolder(const ModelSpec& model, const std::string& weights);

}  // namespace cgrun

#endif  // CGRUN_CLI_GROUP_RUNS_H_
