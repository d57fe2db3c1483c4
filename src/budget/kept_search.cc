// Simulated annealing (Kirkpatrick, Gelatt and Vecchi, Science 220, 1983), in rounds, each from the
// best that is known and colder than the one before. Numbers are drawn from a fixed key.
#include "src/budget/kept_search.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "src/base/random.h"
#include "src/budget/kept_schedule.h"
#include "src/budget/undo.h"
#include "src/plan/orders/list_schedule.h"

namespace cgrun {
namespace {

constexpr uint64_t kKey = 6;
constexpr int kRounds = 6;
constexpr int64_t kMostTries = 800;  // for each choice
constexpr double kHot = 0.005;       // of the time of recomputations: at the beginning …
constexpr double kCold = 0.0005;     // … and at the end of a round
constexpr double kCooler = 0.7;      // than the round before, at its beginning
// A byte above the cap costs this many times the time at the search's start, divided by the cap.
// The factor grows from kCheap at the beginning of a round to kDear at its end.
constexpr double kCheap = 2;
constexpr double kDear = 10;
constexpr double kSpread = 32;  // steps with too many bytes that count as one with the most
constexpr size_t kNear = 4;     // choices that are wanted one behind the other

class Annealing {
 public:
  Annealing(KeptSchedule& schedule, const KeptSearchOptions& options)
      : schedule_(schedule), options_(options) {}

  // Returns whether less time than `seconds` is found for what fits; the schedule is that, then.
  bool Run(double seconds) {
    best_seconds_ = seconds;
    if (!Restart() || wanted_.empty()) return false;
    const double of_start = seconds_;
    const auto choices = static_cast<int64_t>(wanted_.size() * schedule_.steps());
    const int64_t most = std::min(options_.nodes, kMostTries * choices) / kRounds;
    double hot = kHot * of_start;
    for (int round = 0; round < kRounds; ++round, hot *= kCooler) {
      if (!best_.empty()) TakeBest();
      for (int64_t spent = 0; spent < most; spent += static_cast<int64_t>(schedule_.steps())) {
        const double part = static_cast<double>(spent) / static_cast<double>(most);
        temperature_ = hot * std::pow(kCold * of_start / hot, part);
        penalty_ = (kCheap + (kDear - kCheap) * part) * of_start /
                   static_cast<double>(options_.most_bytes);
        Step();
      }
    }
    if (best_.empty()) return false;
    TakeBest();
    return true;
  }

 private:
  // Bytes that are too many: the most at a step, and a part of all.
  double Excess() {
    double most = 0, sum = 0;
    for (Bytes bytes : schedule_.CountBytes()) {
      const auto more = static_cast<double>(bytes - options_.most_bytes);
      if (more <= 0) continue;
      most = std::max(most, more);
      sum += more;
    }
    return most + sum / kSpread;
  }

  double Draw() { return static_cast<double>(UniformFloat(RandomBits(kKey, 0, draws_++))); }
  // One of `begin` … `end` − 1.
  size_t DrawOf(size_t begin, size_t end) {
    const auto count = static_cast<double>(end - begin);
    return std::min(end - 1, begin + static_cast<size_t>(Draw() * count));
  }

  // Goes on from the choices in the schedule.
  bool Restart() {
    if (!schedule_.MakePossible()) return false;
    Accept(Excess());
    return true;
  }

  void TakeBest() {
    for (size_t i = 0; i < best_.size(); ++i) schedule_.Set(schedule_.choices()[i], best_[i]);
    Restart();
  }

  void Accept(double excess) {
    seconds_ = schedule_.seconds();
    excess_ = excess;
    wanted_ = schedule_.wanted();
    if (seconds_ >= best_seconds_ || excess_ > 0) return;
    best_seconds_ = seconds_;
    best_.clear();
    for (ValueId value : schedule_.choices()) best_.push_back(schedule_.Get(value));
  }

  // Changes one choice, or one and some near it, or two. If the cost is too high, the choices are
  // restored.
  void Step() {
    changed_.clear();
    const double kind = Draw();
    const size_t at = DrawOf(0, wanted_.size());
    Change(at);
    const size_t first = at - std::min(at, kNear);
    const size_t end = std::min(at + kNear + 1, wanted_.size());
    if (kind < 0.35) Change(DrawOf(first, end));
    if (kind < 0.175) Change(DrawOf(first, end));
    if (kind >= 0.35 && kind < 0.6) Change(DrawOf(0, wanted_.size()));
    const double cost = seconds_ + penalty_ * excess_;
    const double most = cost - temperature_ * std::log(std::max(Draw(), 1e-9));
    if (schedule_.Make(most)) {
      const double excess = Excess();
      if (schedule_.seconds() + penalty_ * excess <= most) return Accept(excess);
    }
    for (size_t i = changed_.size(); i-- > 0;) {
      schedule_.Set(changed_[i].first, changed_[i].second);
    }
  }

  void Change(size_t at) {
    const Keeping before = schedule_.Get(wanted_[at]);
    changed_.emplace_back(wanted_[at], before);
    const int next = (static_cast<int>(before) + (Draw() < 0.7 ? 1 : 2)) % 3;
    schedule_.Set(wanted_[at], static_cast<Keeping>(next));
  }

  KeptSchedule& schedule_;
  const KeptSearchOptions& options_;
  uint64_t draws_ = 0;
  double temperature_ = 0;  // seconds
  double penalty_ = 0;      // seconds for a byte
  double seconds_ = 0;      // of what was accepted last
  double excess_ = 0;
  std::vector<ValueId> wanted_;
  std::vector<std::pair<ValueId, Keeping>> changed_;  // since, and what it was
  double best_seconds_ = 0;
  std::vector<Keeping> best_;
};

// The order as it was, but that nothing stands before what it reads.
Schedule InOrder(const Graph& graph, const Schedule& schedule) {
  IdVector<NodeId, size_t> place(graph.nodes.size());
  for (size_t i = 0; i < schedule.steps.size(); ++i) place[schedule.steps[i].node] = i;
  return ListSchedule(DependenciesOf(graph), [&](NodeId node, int64_t) { return place[node]; });
}

}  // namespace

std::optional<KeptPlan> SearchKept(const Graph& start, const Schedule& schedule,
                                   const Target& target, const KeptSearchOptions& options) {
  KeptPlan plan{start, {}, schedule, 0};
  std::vector<NodeId> again;
  for (NodeId id : start.nodes.ids()) {
    if (start.nodes[id].recomputes.valid()) again.push_back(id);
  }
  UndoRecompute(plan.graph, plan.schedule, again);
  plan.schedule = InOrder(plan.graph, plan.schedule);
  KeptSchedule held(plan.graph, plan.schedule, target, options.threads, options.buffers);
  held.ChooseAsIn(start);
  Annealing annealing(held, options);
  // All tries have the same smaller workspaces of first runs, and the same cost of these.
  if (!annealing.Run(SecondsForLess(start) - SecondsForLess(plan.graph))) return std::nullopt;
  plan.remat = held.Plan();
  plan.schedule = held.ScheduleOfPlan();
  plan.seconds = held.seconds();
  return plan;
}

}  // namespace cgrun
