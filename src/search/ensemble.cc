#include "src/search/ensemble.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace cgrun {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool IsBetter(double loss, double than) {
  return !std::isnan(loss) && (std::isnan(than) || loss < than);
}

// Writes (sum + candidate) / picks.
void MeanWith(std::span<const double> sum, CandidateNumbers candidate, int64_t picks,
              std::span<double> mean) {
  for (size_t i = 0; i < mean.size(); ++i) {
    mean[i] = (sum[i] + candidate[i]) / static_cast<double>(picks);
  }
}

}  // namespace

EnsembleChoice ChooseTop(std::span<const CandidateNumbers> candidates, int64_t count,
                         const EnsembleLoss& loss) {
  std::vector<double> losses;
  for (const CandidateNumbers candidate : candidates) {
    losses.push_back(loss(std::vector<double>(candidate.begin(), candidate.end())));
  }
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return IsBetter(losses[a], losses[b]); });
  EnsembleChoice choice(candidates.size());
  for (const size_t candidate : order) {
    if (count-- <= 0 || std::isnan(losses[candidate])) break;
    choice[candidate] = 1;
  }
  return choice;
}

EnsembleChoice ChooseGreedily(std::span<const CandidateNumbers> candidates, int64_t most,
                              const EnsembleLoss& loss) {
  EnsembleChoice picked(candidates.size()), best = picked;
  if (candidates.empty()) return best;
  std::vector<double> sum(candidates[0].size()), mean(sum.size());
  double least = kNone;
  for (int64_t picks = 1; picks <= most; ++picks) {
    double next_loss = kNone;
    size_t next = 0;
    for (size_t i = 0; i < candidates.size(); ++i) {
      MeanWith(sum, candidates[i], picks, mean);
      const double here = loss(mean);
      if (!IsBetter(here, next_loss)) continue;
      next_loss = here;
      next = i;
    }
    if (std::isnan(next_loss)) break;
    ++picked[next];
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += candidates[next][i];
    if (!IsBetter(next_loss, least)) continue;
    least = next_loss;
    best = picked;
  }
  return best;
}

std::vector<double> MeanOf(std::span<const CandidateNumbers> candidates,
                           const EnsembleChoice& choice) {
  std::vector<double> mean(candidates[0].size());
  int64_t picks = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (choice[i] == 0) continue;  // a candidate that is not picked may be NaN
    picks += choice[i];
    const auto count = static_cast<double>(choice[i]);
    for (size_t k = 0; k < mean.size(); ++k) mean[k] += count * candidates[i][k];
  }
  for (double& number : mean) number /= static_cast<double>(picks);
  return mean;
}

}  // namespace cgrun
