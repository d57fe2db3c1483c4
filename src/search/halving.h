// Successive halving (Jamieson and Talwalkar, Non-stochastic Best Arm Identification, 2016): after
// each rung, the best part of the trials goes on. The schedule is known before the search starts.
#ifndef CGRUN_SEARCH_HALVING_H_
#define CGRUN_SEARCH_HALVING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "src/search/search_spec.h"

namespace cgrun {

struct Rung {
  int64_t epochs = 0;  // that a trial has trained for when it leaves the rung
  int64_t trials = 0;  // the most that reach it
};

// The rungs of a search that begins with so many trials. The last one has stop.max epochs.
std::vector<Rung> RungsOf(const HalvingSpec& stop, int64_t trials);
// Returns the epochs of all trials together.
int64_t EpochsOf(const std::vector<Rung>& rungs);
// The most trials with which all rungs take at most `epochs` epochs; 0 if there are none.
int64_t TrialsWithin(const HalvingSpec& stop, int64_t epochs);

// A Standing says what a trial has reached on a rung.
struct Standing {
  int64_t trial = 0;
  std::optional<double> loss;  // less is better; nothing if the trial failed
};

// The trials that go on, at most `count`, by their number. If two are equal, the earlier one goes
// on.
std::vector<int64_t> Promoted(std::vector<Standing> standings, int64_t count);

}  // namespace cgrun

#endif  // CGRUN_SEARCH_HALVING_H_
