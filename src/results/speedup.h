// Evaluates the rounds of a benchmark: their spread, the speedup of one case over another, and the
// step from which on it has made up for a longer start.
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

// Says how many times as fast as the baseline a case is. The interval contains the true number with
// a probability of 95 % at least. If there are too few rounds for that, there is no interval.
struct Speedup {
  double median = 0;
  std::optional<std::pair<double, double>> interval;
};

// Compares rounds that took turns, in seconds. The median is over rounds, of the ratio within a
// round: other load on the machine cancels out of it. The interval is that of the order statistics
// of the ratios (Thompson 1936; the sign test), from six rounds on.
inline constexpr int kLeastRoundsInTurns = 6;
Speedup SpeedupOf(const std::vector<double>& seconds, const std::vector<double>& baseline);

// Compares rounds that did not take turns, in seconds. `median` is the ratio of the medians. The
// interval holds the ratios of all pairs from two intervals, each of which holds a median by
// 97.5 %, from seven rounds on. A change of the machine between the two is in the ratio alone.
inline constexpr int kLeastRoundsApart = 7;
Speedup SpeedupApart(const std::vector<double>& seconds, const std::vector<double>& baseline);

// The seconds that a run takes to build with its first step, and for each further step.
struct RunCost {
  double start = 0;
  double step = 0;
};
// The first step at whose end a run has taken less time than the baseline's, and from which on that
// stays so. Returns nothing where there is none.
std::optional<int64_t> BreakEvenStep(const RunCost& run, const RunCost& baseline);

}  // namespace cgrun

#endif  // CGRUN_RESULTS_SPEEDUP_H_
