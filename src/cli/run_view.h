// Shows a run to people: its progress, a line for each epoch, and the summary.
#ifndef CGRUN_CLI_RUN_VIEW_H_
#define CGRUN_CLI_RUN_VIEW_H_

#include <string>
#include <utility>
#include <vector>

#include "src/model/model_spec.h"
#include "src/report/progress.h"
#include "src/session/session.h"

namespace cgrun {

// Prints without allocating.
class RunView final : public RunObserver {
 public:
  // `epochs`: 0 where it is not known.
  explicit RunView(int64_t epochs);

  // On a terminal shows only some of `lines` lines, the first and every so many, so that there are
  // about forty; elsewhere all. Says so: `file` has them all.
  void Fold(int64_t lines, const std::string& file);

  void OnStep(const StepReport& report) override;
  void OnEvaluationStep(const StepReport& report) override;
  void OnEpoch(const EpochReport& report) override;
  void Clear() { progress_.Clear(); }

 private:
  void FormatLabel(int64_t epoch, char* text, size_t size) const;

  ProgressPrinter progress_;
  bool quiet_;
  int64_t epochs_;
  int64_t lines_ = 0;  // so far, those that are not shown among them
  int64_t every_ = 1;  // of them, one is shown
};

// Says on standard error, before a run begins, how much memory it will take.
void PrintMemory(const Session& session);
// Says on standard error where an interrupted run stands, and how it goes on.
void PrintInterrupted(const TrainResult& result, const std::string& folder);

// Warns of accuracies that naming the most frequent class each time would reach. It is a note if
// the labels are synthetic: no model can learn them.
void WarnOfChance(const ModelSpec& model, const PassResult& evaluation);

// Warns of losses of an evaluation that are not finite: the data are at fault, unless it is known
// that the weights are.
void WarnOfLosses(const PassResult& evaluation, bool has_bad_weights = false);

// Prints the result of --dry-run: a session that is ready, and would now run.
void PrintDryRun(const std::string& model, const Session& session);

}  // namespace cgrun

#endif  // CGRUN_CLI_RUN_VIEW_H_
