// Finding a metric by name, and whether it grew better.
#include "src/train/watched_metric.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "src/ir/op_def.h"

namespace cgrun {
namespace {

// "accuracy" of "classify.accuracy".
std::string_view LastPart(std::string_view name) { return name.substr(name.rfind('.') + 1); }

bool SmallerIsBetter(const ModelSpec& model, std::string_view mean) {
  for (const PathSpec& path : model.paths) {
    for (const MetricSpec& metric : path.metrics) {
      if (metric.name.value != LastPart(mean)) continue;
      const std::optional<OpId> op = FindOp(metric.op.target.value);
      return op && GetOpDef(*op).metric.smaller_is_better;
    }
  }
  return true;  // a loss
}

}  // namespace

bool WatchedMetric::Update(double value, BestSoFar& best) const {
  const bool first = std::isnan(best.value);
  const bool better = smaller_is_better ? value < best.value : value > best.value;
  if (std::isnan(value) || !(first || better)) {
    ++best.evaluations_since;
    return false;
  }
  best = {value, 0};
  return true;
}

std::optional<WatchedMetric> FindMetric(const ModelSpec& model,
                                        const std::vector<NamedNumber>& means,
                                        const MarkedText& name, Diagnostics& diagnostics) {
  const auto it = std::find_if(means.begin(), means.end(),
                               [&](const NamedNumber& mean) { return mean.name == name.value; });
  if (it != means.end()) {
    return WatchedMetric{static_cast<size_t>(it - means.begin()),
                         SmallerIsBetter(model, name.value)};
  }
  std::vector<std::string> names;
  for (const NamedNumber& mean : means) names.push_back(mean.name);
  diagnostics.Error(name.mark, "no evaluation gives '" + name.value + "'",
                    SuggestName(name.value, names));
  return std::nullopt;
}

}  // namespace cgrun
