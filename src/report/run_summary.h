// These functions describe a training or an evaluation in text.
#ifndef CGRUN_REPORT_RUN_SUMMARY_H_
#define CGRUN_REPORT_RUN_SUMMARY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/results/named_classes.h"
#include "src/results/train_result.h"

namespace cgrun {

// 0 where no time has passed.
double SamplesPerSecond(int64_t samples, double seconds);

// Returns whether a metric is the share of right classes.
bool IsAccuracy(const NamedNumber& mean);

// "planned 12.3 MiB (arena 8.00 MiB, data 1.20 MiB, base 3.10 MiB)"
std::string PlannedText(const MemoryUse& memory);

// "step 84 of epoch 3".
std::string PlaceText(const WeightsPlace& place);

// "'accuracy' of `valid` was best after step 108 of epoch 12, 0.9800, and no better in 8
// evaluations since"
std::string StopText(const EarlyStop& stop);

// The line that says, behind a summary, that other programs kept the machine busy: steps took
// `slowdown` times as long as the quickest (0: no such ones), others `share` of the processors (0:
// as good as none). "": it was quiet.
std::string BusyNote(double slowdown, double share, int threads);

// A line behind the summary of a run that took clearly more than its cap on memory, by a hundredth
// of it and a MiB at least; "" where there was none (0), or it was kept.
std::string CapNote(const MemoryUse& memory, int64_t cap);

// Describes the outcome of a run in rows of a name and a text.
std::vector<std::pair<std::string, std::string>> TrainFacts(const TrainResult& result,
                                                            const std::string& folder);
// The table at the end of training, below metrics of more than one number. If `quiet`, these are
// left out, as the run folder has them.
std::string TrainSummary(const TrainResult& result, const std::string& folder,
                         const ClassNames& class_names, bool quiet);
// The table at the end of an evaluation, below metrics of more than one number. `weights` says of
// which weights it is; `left_out`: samples that fill no whole batch.
std::string EvaluationSummary(const PassResult& result, const std::string& weights,
                              const MemoryUse& memory, const ClassNames& class_names,
                              int64_t left_out);

}  // namespace cgrun

#endif  // CGRUN_REPORT_RUN_SUMMARY_H_
