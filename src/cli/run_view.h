// What people see of a run: progress, a line an epoch, the summary.
#ifndef CGRUN_CLI_RUN_VIEW_H_
#define CGRUN_CLI_RUN_VIEW_H_

#include <string>
#include <utility>
#include <vector>

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

// "'accuracy' of `valid` was best after step 108 of epoch 12, 0.9800, and no better in 8
// evaluations since"
std::string StopText(const EarlyStop& stop);

// Warns of accuracies that naming the most frequent class each time would reach.
void WarnOfChance(const PassResult& evaluation);

// Warns of losses of an evaluation that are not finite: the data are at fault, unless it is known
// that the weights are.
void WarnOfLosses(const PassResult& evaluation, bool has_bad_weights = false);

// The line that says, behind a summary, that other programs kept the machine busy: steps took
// `slowdown` times as long as the quickest (0: no such ones), others `share` of the processors (0:
// as good as none). "": it was quiet.
std::string BusyNote(double slowdown, double share, int threads);

// What --dry-run prints: a session that is ready, and would now run.
// A line behind the summary of a run that took clearly more than its cap on memory, by a hundredth
// of it and a MiB at least; "" where there was none (0), or it was kept.
std::string CapNote(const MemoryUse& memory, int64_t cap);

void PrintDryRun(const std::string& model, const Session& session);

// What a run came to, as rows of a name and a text.
std::vector<std::pair<std::string, std::string>> TrainFacts(const TrainResult& result,
                                                            const std::string& folder);
// The table at the end of training, and of an evaluation, below metrics of more than one number;
// --quiet leaves these out of a training's, whose folder has them.
std::string TrainSummary(const TrainResult& result, const std::string& folder,
                         const ClassNames& class_names);
// `weights`: the file of which the evaluation is; `left_out`: samples that fill no whole batch.
std::string EvaluationSummary(const PassResult& result, const std::string& weights,
                              const MemoryUse& memory, const ClassNames& class_names,
                              int64_t left_out);

}  // namespace cgrun

#endif  // CGRUN_CLI_RUN_VIEW_H_
