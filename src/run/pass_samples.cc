// Counting metrics and samples.
#include "src/run/pass_samples.h"

#include <algorithm>

#include "src/ops/metric.h"

namespace cgrun {
namespace {

// Counts them among the ports of an engine or of an image.
template <class Ports>
int64_t MetricsOfSamples(const Ports& results) {
  return std::ranges::count_if(results, [](const auto& result) {
    return result.metric && KeepsSamples(result.metric->op, result.type.shape);
  });
}

}  // namespace

int64_t SampleMetrics(const Graph& graph) {
  return std::ranges::count_if(graph.outputs, [&](const Output& output) {
    return output.metric && KeepsSamples(output.metric->op, graph.values[output.value].type.shape);
  });
}

int64_t SampleMetrics(const EngineEntry& entry) { return MetricsOfSamples(entry.results); }
int64_t SampleMetrics(const ImageEntry& entry) { return MetricsOfSamples(entry.results); }

int64_t PassSampleBytes(int64_t metrics, const std::vector<const Dataset*>& sets,
                        const Dataset* train) {
  constexpr int64_t kCopies = 3;  // of those of `train`
  int64_t samples = 0;
  for (const Dataset* set : sets) samples += (set == train ? kCopies : 1) * set->size();
  return metrics * samples * static_cast<int64_t>(sizeof(double));
}

}  // namespace cgrun
