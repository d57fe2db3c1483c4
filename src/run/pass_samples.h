// Memory of metrics that keep a number for each sample of a pass (KeepsSamples()).
#ifndef CGRUN_RUN_PASS_SAMPLES_H_
#define CGRUN_RUN_PASS_SAMPLES_H_

#include <cstdint>
#include <vector>

#include "src/data/dataset.h"
#include "src/ir/graph.h"
#include "src/run/engine.h"

namespace cgrun {

// Returns the number of such metrics of an entry point.
int64_t SampleMetrics(const Graph& graph);
int64_t SampleMetrics(const EngineEntry& entry);
int64_t SampleMetrics(const ImageEntry& entry);

// Bytes that so many metrics of each set take. Those of `train`, which may be null, are there three
// times: in the runner, in the state of the run, and in what its checkpoints are written from.
int64_t PassSampleBytes(int64_t metrics, const std::vector<const Dataset*>& sets,
                        const Dataset* train);

}  // namespace cgrun

#endif  // CGRUN_RUN_PASS_SAMPLES_H_
