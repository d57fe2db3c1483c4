// RecomputeAtPeak: in rounds, each of which takes the fewest of the options at the peak.
#include "src/compile/recompute.h"

#include <algorithm>

#include "src/base/check.h"
#include "src/plan/orders/improve.h"
#include "src/plan/recompute.h"

namespace cgrun {
namespace {

constexpr int64_t kCheapOperations = 16;  // for an element: batch_norm has 7, a pool its window
constexpr int kMostRounds = 16;

class Recomputer {
 public:
  Recomputer(CompiledEntry& entry, const Target& target, const CompileOptions& options)
      : entry_(entry), target_(target), options_(options) {
    for (const Node& node : entry.graph.nodes) {
      if (node.kernel) seconds_left_ += options.recompute_share * node.kernel->seconds;
    }
    bound_ = BoundOf(entry_.graph, entry_.schedule);
  }

  bool Run() {
    bool changed = false;
    for (int round = 0; round < kMostRounds && Round(); ++round) changed = true;
    if (changed && options_.order == "memory") Improve();
    return changed;
  }

 private:
  Bytes BoundOf(const Graph& graph, const Schedule& schedule) const {
    const Liveness liveness = ComputeLiveness(graph, schedule);
    const std::vector<Bytes> bytes = TransientBytes(
        AssignBuffers(graph, schedule, liveness, BuffersOf(options_.layout)), liveness.steps);
    return *std::max_element(bytes.begin(), bytes.end());
  }

  static BufferOptions BuffersOf(const LayoutOptions& layout) {
    return {layout.in_place, layout.zones_apart};
  }

  bool Round() {
    const RecomputeLimits limits{seconds_left_, kCheapOperations, options_.threads,
                                 BuffersOf(options_.layout)};
    std::vector<RecomputeOption> options =
        RecomputeOptionsAtPeak(entry_.graph, entry_.schedule, target_, limits);
    options.resize(Affordable(options));
    if (options.empty()) return false;
    const Bytes least = BoundWith(options, options.size());
    if (least >= bound_) return false;
    options.resize(FewestFor(least, options));
    for (const RecomputeOption& option : options) seconds_left_ -= option.seconds;
    Take(options);
    bound_ = least;
    return true;
  }

  size_t Affordable(const std::vector<RecomputeOption>& options) const {
    double seconds = 0;
    size_t count = 0;
    for (; count < options.size(); ++count) {
      seconds += options[count].seconds;
      if (seconds > seconds_left_) break;
    }
    return count;
  }

  // How many of the first options give a bound of `least`, which all of them do.
  size_t FewestFor(Bytes least, const std::vector<RecomputeOption>& options) const {
    size_t too_few = 0, enough = options.size();
    while (enough - too_few > 1) {
      const size_t middle = (too_few + enough) / 2;
      (BoundWith(options, middle) <= least ? enough : too_few) = middle;
    }
    return enough;
  }

  static RematPlan PlanOf(const std::vector<RecomputeOption>& options, size_t count) {
    RematPlan plan;
    for (size_t i = 0; i < count; ++i) plan.recompute.push_back(options[i].decision);
    return plan;
  }

  PassContext Context(const RematPlan& plan) const {
    return {target_, false, &plan, entry_.request.batch, options_.threads};
  }

  Bytes BoundWith(const std::vector<RecomputeOption>& options, size_t count) const {
    const RematPlan plan = PlanOf(options, count);
    Graph graph = entry_.graph;
    passes::Rematerialise(graph, Context(plan));
    return BoundOf(graph, WithSecondRuns(graph, entry_.schedule));
  }

  void Take(const std::vector<RecomputeOption>& options) {
    const RematPlan plan = PlanOf(options, options.size());
    RunPasses(entry_.graph, Context(plan), options_.passes, PassStage::kPlanned);
    SetSchedule(WithSecondRuns(entry_.graph, entry_.schedule));
  }

  // The peak lies elsewhere now.
  void Improve() {
    Schedule improved = ImproveAtPeak(entry_.graph, entry_.schedule);
    const Bytes bound = BoundOf(entry_.graph, improved);
    if (bound >= bound_) return;
    SetSchedule(std::move(improved));
    bound_ = bound;
  }

  void SetSchedule(Schedule schedule) {
    entry_.schedule = std::move(schedule);
    const std::vector<std::string> violations = VerifySchedule(entry_.graph, entry_.schedule);
    CGRUN_CHECK(violations.empty()) << "with what runs again: " << violations[0];
  }

  CompiledEntry& entry_;
  const Target& target_;
  const CompileOptions& options_;
  double seconds_left_ = 0;
  Bytes bound_ = 0;
};

}  // namespace

bool RecomputeAtPeak(CompiledEntry& entry, const Target& target, const CompileOptions& options) {
  return Recomputer(entry, target, options).Run();
}

}  // namespace cgrun
