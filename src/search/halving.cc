#include "src/search/halving.h"

#include <algorithm>

namespace cgrun {

std::vector<Rung> RungsOf(const HalvingSpec& stop, int64_t trials) {
  std::vector<Rung> rungs;
  int64_t epochs = stop.min;
  while (epochs < stop.max.value) {
    rungs.push_back({epochs, trials});
    epochs = epochs > stop.max.value / stop.eta ? stop.max.value : epochs * stop.eta;
    trials = std::max<int64_t>(1, trials / stop.eta);
  }
  rungs.push_back({stop.max.value, trials});
  return rungs;
}

int64_t EpochsOf(const std::vector<Rung>& rungs) {
  int64_t sum = 0, before = 0;
  for (const Rung& rung : rungs) {
    sum += rung.trials * (rung.epochs - before);
    before = rung.epochs;
  }
  return sum;
}

int64_t TrialsWithin(const HalvingSpec& stop, int64_t epochs) {
  int64_t fits = 0, beyond = epochs / stop.min + 1;
  while (fits + 1 < beyond) {
    const int64_t middle = fits + (beyond - fits) / 2;
    (EpochsOf(RungsOf(stop, middle)) <= epochs ? fits : beyond) = middle;
  }
  return fits;
}

std::vector<int64_t> Promoted(std::vector<Standing> standings, int64_t count) {
  std::erase_if(standings, [](const Standing& one) { return !one.loss; });
  std::ranges::sort(standings, [](const Standing& a, const Standing& b) {
    return *a.loss != *b.loss ? *a.loss < *b.loss : a.trial < b.trial;
  });
  std::vector<int64_t> promoted;
  for (const Standing& one : standings) {
    if (std::ssize(promoted) < count) promoted.push_back(one.trial);
  }
  std::ranges::sort(promoted);
  return promoted;
}

}  // namespace cgrun
