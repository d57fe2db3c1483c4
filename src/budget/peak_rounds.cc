// LowerPeak works in rounds, each of which takes the fewest of the options at the peak. Afterwards,
// decisions that later rounds have made needless are undone, the dearest first. Under a cap, a
// kernel whose workspace makes the peak can work in less. That choice competes with the options
// there.
#include "src/budget/peak_rounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "src/base/check.h"
#include "src/base/phase_times.h"
#include "src/budget/recompute_options.h"
#include "src/budget/single_threaded.h"
#include "src/budget/swap.h"
#include "src/budget/undo.h"
#include "src/plan/orders/improve.h"

namespace cgrun {
namespace {

constexpr int kMostSweeps = 4;   // each of which spends what the one before has undone
constexpr int kMostRounds = 64;  // of a sweep
// Node visits after which one way ends. The shipped models need 63,000.
constexpr int64_t kMostNodesSeen = 1'000'000;
constexpr int64_t kMostNodesTried = 400'000;  // of the graphs with a decision undone
constexpr int64_t kFewNodesTried = 10'000;    // the same where it must be quick
constexpr int64_t kAnySteps = std::numeric_limits<int64_t>::max();

// The most bytes that are alive at a step, then at how many steps. Less is better.
using Peak = std::pair<Bytes, int64_t>;

// Gives a graph back as it was once the recomputations of `plan` have been looked at: for a
// fraction of a copy's time.
class UndoesRecomputations {
 public:
  UndoesRecomputations(Graph& graph, const RematPlan& plan)
      : graph_(graph), nodes_(graph.nodes.size()), values_(graph.values.size()) {
    for (const RecomputeDecision& decision : plan.recompute) {
      for (NodeId id : decision.readers) inputs_.emplace_back(id, graph.nodes[id].inputs);
    }
  }
  ~UndoesRecomputations() {
    for (auto& [id, inputs] : inputs_) graph_.nodes[id].inputs = std::move(inputs);
    graph_.nodes.resize(nodes_);
    graph_.values.resize(values_);
  }
  UndoesRecomputations(const UndoesRecomputations&) = delete;
  UndoesRecomputations& operator=(const UndoesRecomputations&) = delete;

 private:
  Graph& graph_;
  size_t nodes_, values_;
  std::vector<std::pair<NodeId, std::vector<ValueId>>> inputs_;  // of late readers
};

class PeakRounds {
 public:
  PeakRounds(CompiledEntry& entry, const Target& target, const BudgetOptions& options,
             const RecomputeGoal& goal, const Ranking& ranking)
      : entry_(entry), target_(target), options_(options), goal_(goal), ranking_(ranking) {
    seconds_left_ = goal.share * SecondsOfStep(entry.graph);
    LookAtPeak();
  }

  bool Run() {
    const Peak first = peak_;
    const size_t nodes_before = entry_.graph.nodes.size();
    bool changed = false;
    for (int sweep = 0; sweep < kMostSweeps && Lower(); ++sweep) {
      changed = true;
      if (options_.order == "memory") Improve();
      if (IsQuick() || goal_.bytes <= 0 || peak_.first <= goal_.bytes) UndoAll(peak_);
    }
    // No sweep goes on from here, to which fewer steps at the peak would be worth something.
    if (changed && goal_.is_final) UndoAll({peak_.first, kAnySteps});
    SetSchedule(SpreadTransfers(entry_.graph, entry_.schedule, std::max(peak_.first, goal_.bytes),
                                SearchedBuffers(options_.layout)));
    const std::vector<std::string> violations = VerifyGraph(entry_.graph);
    CGRUN_CHECK(violations.empty()) << "with what runs again or is swapped: " << violations[0];
    return peak_.first < first.first || entry_.graph.nodes.size() > nodes_before;
  }

  bool Keep() {
    const size_t nodes_before = entry_.graph.nodes.size();
    UndoNeedless(peak_);
    return entry_.graph.nodes.size() < nodes_before;
  }

  // Returns the peak, or the goal if the peak is no larger, and then the time that a step takes
  // longer. Less is better.
  PeakCost Cost() const {
    return {std::max(peak_.first, goal_.bytes),
            SecondsForLess(entry_.graph) + SecondsWaited(entry_.graph, entry_.schedule)};
  }

 private:
  bool IsQuick() const { return options_.effort == PlanEffort::kQuick; }

  bool Lower() {
    int rounds = 0;
    while (rounds < kMostRounds && nodes_seen_ < kMostNodesSeen && peak_.first > goal_.bytes &&
           Round()) {
      ++rounds;
    }
    return rounds > 0;
  }

  Peak PeakOf(const Graph& graph, const Schedule& schedule) const {
    return PeakOf(BytesOf(graph, schedule, options_.layout));
  }

  void LookAtPeak() {
    nodes_seen_ += std::ssize(entry_.graph.nodes);
    const std::vector<Bytes> bytes = BytesOf(entry_.graph, entry_.schedule, options_.layout);
    peak_ = PeakOf(bytes);
    const auto step = static_cast<size_t>(std::ranges::find(bytes, peak_.first) - bytes.begin());
    const std::vector<ScheduleStep>& steps = entry_.schedule.steps;
    at_peak_ = step < steps.size() ? steps[step].node : NodeId();
  }

  static Peak PeakOf(const std::vector<Bytes>& bytes) {
    const Bytes most = *std::ranges::max_element(bytes);
    return {most, std::ranges::count(bytes, most)};
  }

  bool Round() {
    RecomputeLimits limits{seconds_left_, ranking_.emphasis, options_.threads,
                           SearchedBuffers(options_.layout)};
    limits.recompute = !options_.passes.Disabled(kRematerialisePass);
    if (ranking_.share) limits.swap = SwapTerms{options_.swap->speed, *ranking_.share};
    std::vector<RecomputeOption> options =
        RecomputeOptionsAtPeak(entry_.graph, entry_.schedule, target_, limits);
    KeepAffordable(options);
    if (TakeSmallerWorkspace(options)) return true;
    if (options.empty()) return false;
    const Peak least = PeakWith(options, options.size());
    if (least >= peak_) return TakeSmallerWorkspace({});
    options.resize(FewestFor(std::max(least, Peak{goal_.bytes, kAnySteps}), options));
    for (const RecomputeOption& option : options) seconds_left_ -= option.seconds;
    Take(options);
    LookAtPeak();
    return true;
  }

  // Makes the kernel at the peak single-threaded, if it may be, and if that frees more bytes a
  // second than the best of the options. Returns false where that lowers nothing.
  bool TakeSmallerWorkspace(const std::vector<RecomputeOption>& options) {
    if (!MayUseSmallerWorkspaces(options_) || !goal_.is_final || !at_peak_.valid()) return false;
    Node& node = entry_.graph.nodes[at_peak_];
    const std::optional<KernelChoice> choice = SmallerWorkspace(entry_.graph, node, target_);
    if (!choice) return false;
    const Bytes bytes = node.kernel->workspace_bytes - choice->workspace_bytes;
    const bool is_better = options.empty() || Worth(bytes) * options[0].seconds >=
                                                  Worth(options[0].bytes) * choice->slower_by;
    if (!is_better) return false;
    const KernelChoice of_team = std::exchange(*node.kernel, *choice);
    if (PeakOf(entry_.graph, entry_.schedule) >= peak_) {
      node.kernel = of_team;
      return false;
    }
    seconds_left_ -= choice->slower_by;
    LookAtPeak();
    return true;
  }

  // As options are ranked; what is more than the goal lacks is worth nothing.
  double Worth(Bytes bytes) const {
    if (goal_.bytes > 0) bytes = std::min(bytes, std::max<Bytes>(peak_.first - goal_.bytes, 1));
    return std::pow(static_cast<double>(bytes), ranking_.emphasis);
  }

  // The best first; one that the time does not allow any more makes way for the next.
  void KeepAffordable(std::vector<RecomputeOption>& options) const {
    double left = seconds_left_;
    std::erase_if(options, [&](const RecomputeOption& option) {
      if (option.seconds > left) return true;
      left -= option.seconds;
      return false;
    });
  }

  // Returns the least number of options, from the first on, that give a peak of `peak`. All
  // together give it.
  size_t FewestFor(const Peak& peak, const std::vector<RecomputeOption>& options) {
    size_t too_few = 0, enough = options.size();
    while (enough - too_few > 1) {
      const size_t middle = (too_few + enough) / 2;
      (PeakWith(options, middle) <= peak ? enough : too_few) = middle;
    }
    return enough;
  }

  static RematPlan PlanOf(const std::vector<RecomputeOption>& options, size_t count) {
    RematPlan plan;
    for (size_t i = 0; i < count; ++i) {
      if (options[i].swap) {
        plan.swap.push_back(*options[i].swap);
      } else {
        plan.recompute.push_back(options[i].decision);
      }
    }
    return plan;
  }

  PassContext Context(const RematPlan& plan) const {
    return {target_, false, &plan, entry_.request.batch, options_.threads};
  }

  Peak PeakWith(const std::vector<RecomputeOption>& options, size_t count) {
    const RematPlan plan = PlanOf(options, count);
    nodes_seen_ += std::ssize(entry_.graph.nodes);
    if (plan.swap.empty()) {
      const UndoesRecomputations undoes(entry_.graph, plan);
      passes::Rematerialise(entry_.graph, Context(plan));
      return PeakOf(entry_.graph, WithRecomputations(entry_.graph, entry_.schedule));
    }
    Graph graph = entry_.graph;
    passes::Rematerialise(graph, Context(plan));
    passes::SwapToFile(graph, Context(plan));
    return PeakOf(graph, WithRecomputations(graph, entry_.schedule));
  }

  void Take(const std::vector<RecomputeOption>& options) {
    const RematPlan plan = PlanOf(options, options.size());
    if (options_.passes.observe || !options_.passes.stop_after.empty()) {
      RunPasses(entry_.graph, Context(plan), options_.passes, PassStage::kPlanned);
    } else {  // the graph is verified in the end, not each time
      passes::Rematerialise(entry_.graph, Context(plan));
      passes::SwapToFile(entry_.graph, Context(plan));
    }
    SetSchedule(WithRecomputations(entry_.graph, entry_.schedule));
  }

  // The peak lies elsewhere now.
  void Improve() {
    Schedule improved = ImproveAtPeak(entry_.graph, DependenciesOf(entry_.graph), entry_.schedule);
    const Peak peak = PeakOf(entry_.graph, improved);
    if (peak >= peak_) return;
    SetSchedule(std::move(improved));
    LookAtPeak();
  }

  // Undoes what is needless while the peak stays within the goal, or as low as `lowest`: smaller
  // workspaces, which are few and dear, then recomputations and swaps.
  void UndoAll(const Peak& lowest) {
    if (UseWholeTeams(entry_, target_, options_, std::max(lowest.first, goal_.bytes))) LookAtPeak();
    UndoNeedless(lowest);
  }

  // Tries the dearest nodes first.
  void UndoNeedless(const Peak& lowest) {
    const std::vector<NodeId> dearest = DearestRecomputed();
    if (dearest.empty()) return;
    const Peak most = std::max(lowest, Peak{goal_.bytes, kAnySteps});
    std::vector<NodeId> runs, swaps;
    UndoTrials trials(entry_.graph, entry_.schedule, CountedBuffers(options_.layout));
    int64_t nodes_left = IsQuick() ? kFewNodesTried : kMostNodesTried;
    for (NodeId id : dearest) {
      if ((nodes_left -= static_cast<int64_t>(entry_.graph.nodes.size())) < 0) break;
      const std::vector<Bytes>* bytes = trials.Try(id);
      if (bytes == nullptr || PeakOf(*bytes) > most) continue;
      trials.Keep();
      (entry_.graph.nodes[id].op == OpId::swap_out ? swaps : runs).push_back(id);
    }
    if (!runs.empty() || !swaps.empty()) UndoThese(runs, swaps, most);
  }

  // Not where the peak would be more than `most`: a program that runs in part can keep more then.
  void UndoThese(const std::vector<NodeId>& runs, const std::vector<NodeId>& swaps,
                 const Peak& most) {
    Graph graph = entry_.graph;
    Schedule schedule = entry_.schedule;
    std::vector<std::string> names;
    for (NodeId id : swaps) names.push_back(graph.nodes[id].name);
    UndoRecompute(graph, schedule, runs);
    for (const std::string& name : names) UndoSwap(graph, schedule, FindNode(graph, name));
    const Peak peak = PeakOf(graph, schedule);
    if (peak > most) return;
    seconds_left_ += SecondsForLess(entry_.graph) - SecondsForLess(graph);
    entry_.graph = std::move(graph);
    SetSchedule(std::move(schedule));
    LookAtPeak();
  }

  std::vector<NodeId> DearestRecomputed() const {
    std::vector<std::pair<double, NodeId>> again;
    for (NodeId id : entry_.graph.nodes.ids()) {
      const Node& node = entry_.graph.nodes[id];
      if (!node.recomputes.valid() && node.op != OpId::swap_out) continue;
      again.emplace_back(-SecondsOf(entry_.graph, node), id);
    }
    std::ranges::sort(again);
    std::vector<NodeId> ids;
    for (const auto& [seconds, id] : again) ids.push_back(id);
    return ids;
  }

  static NodeId FindNode(const Graph& graph, const std::string& name) {
    for (NodeId id : graph.nodes.ids()) {
      if (graph.nodes[id].name == name) return id;
    }
    return {};
  }

  void SetSchedule(Schedule schedule) {
    entry_.schedule = std::move(schedule);
    const std::vector<std::string> violations = VerifySchedule(entry_.graph, entry_.schedule);
    CGRUN_CHECK(violations.empty()) << "with what runs again or is swapped: " << violations[0];
  }

  CompiledEntry& entry_;
  const Target& target_;
  const BudgetOptions& options_;
  const RecomputeGoal& goal_;
  const Ranking& ranking_;
  double seconds_left_ = 0;
  int64_t nodes_seen_ = 0;  // of the graphs so far
  Peak peak_;
  NodeId at_peak_;  // of the first of the fullest steps; invalid without nodes
};

}  // namespace

std::optional<PeakCost> LowerPeak(CompiledEntry& entry, const Target& target,
                                  const BudgetOptions& options, const RecomputeGoal& goal,
                                  const Ranking& ranking) {
  PeakRounds rounds(entry, target, options, goal, ranking);
  return rounds.Run() ? std::optional(rounds.Cost()) : std::nullopt;
}

bool KeepWhatFits(CompiledEntry& entry, const Target& target, const BudgetOptions& options,
                  Bytes bytes) {
  const PhaseTimer timer("recompute");
  const RecomputeGoal goal{0, bytes};
  return PeakRounds(entry, target, options, goal, {}).Keep();
}

}  // namespace cgrun
