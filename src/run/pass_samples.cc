// Counting metrics and samples.
#include "src/run/pass_samples.h"

#include <algorithm>

#include "src/ops/metric.h"

namespace cgrun {

int64_t SampleMetrics(const Graph& graph) {
  return std::ranges::count_if(graph.outputs, [&](const Output& output) {
    return output.metric && KeepsSamples(output.metric->op, graph.values[output.value].type.shape);
  });
}

int64_t SampleMetrics(const EngineEntry& entry) {
  return std::ranges::count_if(entry.results, [](const EnginePort& result) {
    return result.metric && KeepsSamples(result.metric->op, result.type.shape);
  });
}

int64_t PassSampleBytes(int64_t metrics, const std::vector<const Dataset*>& sets,
                        const Dataset* train) {
  constexpr int64_t kCopies = 3;  // of those of `train`
  int64_t samples = 0;
  for (const Dataset* set : sets) samples += (set == train ? kCopies : 1) * set->size();
  return metrics * samples * static_cast<int64_t>(sizeof(double));
}

}  // namespace cgrun
