// What rounds of a benchmark say: spreads, how much faster one case is than another, and from which
// step on that has made up for its start.
#ifndef CGRUN_RESULTS_SPEEDUP_H_
#define CGRUN_RESULTS_SPEEDUP_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace cgrun {

// Over rounds.
struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
};
Spread SpreadOf(std::vector<double> samples);

// How many times as fast as the baseline. An interval holds the true one with a probability of 95 %
// at least; there is none where the rounds are too few for that.
struct Speedup {
  double median = 0;
  std::optional<std::pair<double, double>> interval;
};

// Of rounds that took turns, both in seconds: the median over rounds of the ratio within a round,
// which what else the machine does meanwhile cancels out of. The interval is that of the order
// statistics of the ratios (Thompson 1936; the sign test), from six rounds on.
inline constexpr int kLeastRoundsInTurns = 6;
Speedup SpeedupOf(const std::vector<double>& seconds, const std::vector<double>& baseline);

// Of rounds that did not, both in seconds: the ratio of the medians. The interval goes from the
// least ratio to the greatest of what intervals for both medians hold, each by 97.5 %, from seven
// rounds on: what changed on the machine between the two is in the ratio and not in the interval.
inline constexpr int kLeastRoundsApart = 7;
Speedup SpeedupApart(const std::vector<double>& seconds, const std::vector<double>& baseline);

// What a run costs: building with the first step, and each further step. In seconds.
struct RunCost {
  double start = 0;
  double step = 0;
};
// The first step at whose end a run has taken less time than the baseline's, and from which on that
// stays so. Nothing where there is none.
std::optional<int64_t> BreakEvenStep(const RunCost& run, const RunCost& baseline);

}  // namespace cgrun

#endif  // CGRUN_RESULTS_SPEEDUP_H_
