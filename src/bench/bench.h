// The benchmark: one model in several ways (cases), the first of them the baseline, on the same
// kernels, from the same weights, over the same batches, in rounds that take turns. `cgrun bench`.
#ifndef CGRUN_BENCH_BENCH_H_
#define CGRUN_BENCH_BENCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/compile/compile.h"
#include "src/device/host_limits.h"
#include "src/results/bench_result.h"
#include "src/run/engine.h"

namespace cgrun {

// Describes one way to run the model.
struct BenchCase {
  std::string name;  // "graph, serial"
  Mode mode = Mode::kGraph;
  CompileOptions compile;
  FreePolicy free = FreePolicy::kAtLastReader;  // of eager mode
  bool timed = true;                            // else it runs for its memory alone
  bool profiled = false;  // its operators are timed in the rounds: what does that cost?
};

struct BenchOptions {
  std::string device = "reference";
  // The forward path alone, else training steps; a model that predicts alone has no others.
  bool infer = false;
  int rounds = 0;        // 0: as many as take about 2 s for a case, 7 at least and 21 at most
  bool profile = false;  // show the observer where the time of each case goes, after the rounds
  int64_t steps = 0;     // in a round; 0: as many as take about 0.1 s in the slowest case
  // Steps go through at most so many different batches; 0: as many as the benchmark reads.
  int64_t limit_batches = 0;
  bool dry_run = false;       // the cases are built, and none takes a step
  DebugRun* debug = nullptr;  // of a debugging run, which outlives the benchmark; of graph cases
  std::optional<HostLimits> limits = {};  // of this process; nothing: as the host says
};

// The cases of the benchmark: eager, eager that frees nothing, graph without passes, graph in every
// order. `options` are those of all but the order; with `one_order` it is theirs too, and graph
// mode runs in it alone.
std::vector<BenchCase> StandardCases(const CompileOptions& options, bool one_order = false);
// Eager, graph with all passes, and graph without each of them in turn ("without fuse_norms"), but
// for those that are idle.
inline constexpr std::string_view kAllPassesCase = "graph, all passes";
std::vector<BenchCase> PassCases(const CompileOptions& options,
                                 const std::vector<std::string>& idle_passes = {});
// The entry point that the cases run.
EntryRequest BenchEntry(const ModelSpec& model, bool infer);

// This many losses of each case are compared with the baseline's. Every second step all cases start
// from the baseline's state: so one step shows the forward path, the next one backward path and
// update. They learn at a part of their rates: a high rate makes much of rounding, in ResNet-50 0.2
// % of the loss in one step.
inline constexpr int64_t kComparedSteps = 6;
inline constexpr double kComparedRate = 0.01;
// A larger difference is more than rounding. It is relative to the loss, or to 1 if the loss is
// smaller.
inline constexpr double kLossTolerance = 1e-3;

// Sees the benchmark go on; `done` of `total` are rounds of all cases.
class BenchObserver {
 public:
  virtual ~BenchObserver() = default;
  virtual void OnCase(const std::string& name, int64_t done, int64_t total) = 0;
  virtual void OnProfile(const std::string& /*name*/, const Engine&, const OperatorTimes&) {}
};

// Errors of the model file go to `diagnostics`, and the result is nothing. Throws UserError for the
// rest (files), and NoRoom if no case fits into what the limits of this process leave. A case that
// does not fit, beside those before it, is left out before its arena is taken. The first batches of
// the training set are read beforehand, or those of the test set if there is no training set.
std::optional<BenchResult> RunBench(const ModelSpec& model, const std::vector<BenchCase>& cases,
                                    const BenchOptions& options, BenchObserver& observer,
                                    Diagnostics& diagnostics);

// Sets the faults of cases whose first `steps` losses are not the baseline's. Cases that did not
// see each other, as in processes of their own, have started from the same state in two steps
// alone.
inline constexpr int64_t kComparedStepsAlone = 2;
void CompareLosses(std::vector<CaseResult>& cases, int64_t steps = kComparedSteps);

}  // namespace cgrun

#endif  // CGRUN_BENCH_BENCH_H_
