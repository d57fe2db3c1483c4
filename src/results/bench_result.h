// BenchResult: the cases of a benchmark, as they were measured.
#ifndef CGRUN_RESULTS_BENCH_RESULT_H_
#define CGRUN_RESULTS_BENCH_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/results/speedup.h"

namespace cgrun {

struct CaseResult {
  std::string name;
  int64_t batch = 0;
  int64_t peak_bytes = 0;      // in tensors and workspaces at once, by the device's own counter
  int64_t reserved_bytes = 0;  // taken from the device for them
  std::vector<double> round_seconds;            // a step's, in each round; of cases that are timed
  std::optional<Spread> seconds_per_iteration;  // their spread
  std::optional<Speedup> speedup;               // against the baseline, of all others
  double build_seconds = 0;                     // from the model file to an engine …
  double first_step_seconds = 0;  // … and its first step, in which eager mode prepares its kernels
  std::optional<int64_t> allocations_after_first_step;  // ours; no count under a sanitizer
  std::vector<double> losses;  // of the first kComparedSteps steps; none where the model has none
  std::string fault;           // says why the case is an error, not a row; "" if it is none

  // The case was timed.
  RunCost cost() const {
    return {build_seconds + first_step_seconds, seconds_per_iteration->median};
  }
  // The cost by the speedup over `baseline`, so that the two agree on which is faster.
  RunCost CostBeside(const CaseResult& baseline) const {
    RunCost cost = this->cost();
    if (speedup) cost.step = baseline.cost().step / speedup->median;
    return cost;
  }
};

// A case that did not run, since it does not fit into the memory that the process may take.
struct LeftOutCase {
  std::string name;
  std::string reason;
};

// PassGain compares the graph with all passes with the graph without this one.
struct PassGain {
  std::string pass;
  int64_t bytes = 0;                    // that the peak is lower by
  std::optional<Speedup> speedup = {};  // of the graph with the pass; nothing where none was timed
  bool changes_nothing = false;         // the program is the same without it, so that nothing ran
};

struct BenchResult {
  std::string model;
  std::string device;
  bool infer = false;
  int threads = 1;
  int64_t steps_per_round = 0;
  int rounds = 0;
  bool isolated = false;  // each case ran in a process of its own, whose memory peak_bytes is
  bool dry_run = false;   // the cases were built alone; of eager mode no memory is known then
  std::vector<CaseResult> cases;  // the first is the baseline
  std::vector<LeftOutCase> left_out = {};
  // Passes without which the program is the same: no case leaves these out.
  std::vector<std::string> idle_passes = {};
  std::vector<PassGain> pass_gains = {};  // PassGainsOf() the cases
};

}  // namespace cgrun

#endif  // CGRUN_RESULTS_BENCH_RESULT_H_
