// Order statistics, which ask nothing of how the times are distributed.
#include "src/results/speedup.h"

#include <algorithm>
#include <cmath>

#include "src/base/check.h"

namespace cgrun {
namespace {

// The probability that the median lies beyond one end of an interval, and as many standard
// deviations of the normal distribution.
struct Tail {
  double probability;
  double deviations;
};
constexpr Tail kOneInForty = {0.025, 1.96};     // an interval of 95 %
constexpr Tail kOneInEighty = {0.0125, 2.242};  // of 97.5 %

// Returns how many of the least, and of the greatest, of `count` samples are outside of an interval
// that holds the median. That is the greatest number of heads below which a fair coin stays in
// `count` throws with the probability of a tail at most. Returns nothing if there are too few
// samples.
std::optional<int> OutsideOfInterval(int count, const Tail& tail) {
  constexpr int kMany = 1000;  // from here on heads are normally distributed, to less than a head
  if (count > kMany) {
    return static_cast<int>((count - 1) / 2.0 - tail.deviations / 2 * std::sqrt(count));
  }
  double exactly = std::ldexp(1, -count);  // the probability of that many heads
  double fewer = 0;
  int heads = 0;
  while (heads < count && fewer + exactly <= tail.probability) {
    fewer += exactly;
    exactly *= static_cast<double>(count - heads) / (heads + 1);
    ++heads;
  }
  if (heads == 0) return std::nullopt;
  return heads - 1;
}

// An interval that holds the median of what the samples are of.
std::optional<std::pair<double, double>> IntervalOfMedian(std::vector<double> samples,
                                                          const Tail& tail) {
  const auto outside = OutsideOfInterval(static_cast<int>(samples.size()), tail);
  if (!outside) return std::nullopt;
  std::ranges::sort(samples);
  const auto skipped = static_cast<size_t>(*outside);
  return std::pair(samples[skipped], samples[samples.size() - 1 - skipped]);
}

}  // namespace

Spread SpreadOf(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const size_t middle = samples.size() / 2;
  const double median =
      samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
  return {median, samples.front(), samples.back()};
}

Speedup SpeedupOf(const std::vector<double>& seconds, const std::vector<double>& baseline) {
  CGRUN_CHECK(seconds.size() == baseline.size() && !seconds.empty());
  std::vector<double> ratios;
  for (size_t i = 0; i < seconds.size(); ++i) ratios.push_back(baseline[i] / seconds[i]);
  return {SpreadOf(ratios).median, IntervalOfMedian(ratios, kOneInForty)};
}

Speedup SpeedupApart(const std::vector<double>& seconds, const std::vector<double>& baseline) {
  CGRUN_CHECK(!baseline.empty() && !seconds.empty());
  Speedup speedup{SpreadOf(baseline).median / SpreadOf(seconds).median, std::nullopt};
  const auto own = IntervalOfMedian(seconds, kOneInEighty);
  const auto other = IntervalOfMedian(baseline, kOneInEighty);
  if (own && other) speedup.interval = {other->first / own->second, other->second / own->first};
  return speedup;
}

std::optional<int64_t> BreakEvenStep(const RunCost& run, const RunCost& baseline) {
  constexpr double kMostSteps = 1e15;
  const double gain = baseline.step - run.step;
  const double later = run.start - baseline.start;
  if (gain < 0 || (gain == 0 && later >= 0)) return std::nullopt;
  if (later < 0) return 1;
  const double steps = std::floor(later / gain);  // beyond the first, which do not make up for it
  if (steps > kMostSteps) return std::nullopt;
  return static_cast<int64_t>(steps) + 2;
}

}  // namespace cgrun
