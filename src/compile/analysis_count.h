// Counts how often this process has analysed the graph of a model. A run does so once, before its
// first step, however many steps and evaluations follow.
#ifndef CGRUN_COMPILE_ANALYSIS_COUNT_H_
#define CGRUN_COMPILE_ANALYSIS_COUNT_H_

#include <cstdint>

namespace cgrun {

// Each plan of a model's entry points together counts one (CompilePrepared), and so does each
// preparation for eager mode (PrepareEager). The search for a plan under a cap on memory counts
// what it plans.
int64_t AnalysisCount();

// Each function that analyses a graph must call this.
void CountAnalysis();

}  // namespace cgrun

#endif  // CGRUN_COMPILE_ANALYSIS_COUNT_H_
