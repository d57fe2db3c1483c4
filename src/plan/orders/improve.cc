// Moves around the peak, each judged by running the order again.
#include "src/plan/orders/improve.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "src/plan/orders/window_search.h"

namespace cgrun {
namespace {

constexpr int64_t kNodeRuns = 150'000;
constexpr int64_t kWindowRuns = 5'000;  // of them, for one window
constexpr size_t kFarthest = 256;       // steps between the peak and what is moved across it

// Holds the cost of an order: its peak, then the number of steps at the peak. Less is better.
using Cost = std::pair<Bytes, int64_t>;

class Improver {
 public:
  Improver(const Graph& graph, const Dependencies& dependencies, NodeOrder order)
      : dependencies_(dependencies),
        order_(std::move(order)),
        place_(graph.nodes.size()),
        memory_(graph) {}

  NodeOrder Run() {
    cost_ = CostOf(order_, {Bytes{1} << 62, 0});
    bool better = true;
    while (better && cost_.first > LeastPeak() && budget_ > 0) {
      FindPeak();
      better = OrderWindows() || DelayWhatIsMadeTooSoon() || AdvanceWhatFrees();
    }
    return std::move(order_);
  }

 private:
  // Returns a bound of the peak in all orders: some node needs as much.
  Bytes LeastPeak() const {
    Bytes least = 0;
    for (NodeId node : order_) least = std::max(least, memory_.LeastDuring(node));
    return least;
  }

  // Counts only as far as is needed to see that the cost is no less than `most`.
  Cost CostOf(const NodeOrder& order, const Cost& most) {
    Cost cost{0, 0};
    size_t run = 0;
    for (; run < order.size() && cost < most; ++run) {
      const Bytes bytes = memory_.During(order[run]);
      if (bytes > cost.first) cost = {bytes, 0};
      cost.second += bytes == cost.first;
      memory_.Run(order[run]);
    }
    budget_ -= static_cast<int64_t>(run);
    Rewind(order, run);
    return cost;
  }

  // To before the first node, where `run` of them have run.
  void Rewind(const NodeOrder& order, size_t run) {
    while (run-- > 0) memory_.Undo(order[run]);
  }

  bool Accept(NodeOrder order) {
    const Cost cost = CostOf(order, cost_);
    if (cost >= cost_) return false;
    order_ = std::move(order);
    cost_ = cost;
    return true;
  }

  void FindPeak() {
    for (size_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
    for (peak_ = 0; memory_.During(order_[peak_]) < cost_.first; ++peak_) {
      memory_.Run(order_[peak_]);
    }
    Rewind(order_, peak_);
  }

  // Windows that hold the peak, at their end, in the middle and at their beginning.
  bool OrderWindows() {
    const size_t size = std::min(kMostWindowNodes, order_.size());
    for (size_t before : {size - 1, size / 2, size_t{0}}) {
      const size_t begin = std::min(peak_ - std::min(before, peak_), order_.size() - size);
      for (size_t i = 0; i < begin; ++i) memory_.Run(order_[i]);
      const std::span<NodeId> window(order_.data() + begin, size);
      const int64_t share = std::min(budget_, kWindowRuns);
      int64_t left = share;
      const bool found = FindWindowOrder(dependencies_, cost_.first, memory_, window, left);
      Rewind(order_, begin);
      budget_ -= share - left + static_cast<int64_t>(begin);
      if (!found) continue;
      cost_ = CostOf(order_, {Bytes{1} << 62, 0});
      return true;
    }
    return false;
  }

  // A node goes right before the first one that waits for it, or to the end.
  bool DelayWhatIsMadeTooSoon() {
    for (size_t i = peak_ - std::min(peak_, kFarthest); i < peak_ && budget_ > 0; ++i) {
      size_t first = order_.size();
      for (NodeId successor : dependencies_.successors[order_[i]]) {
        first = std::min(first, place_[successor]);
      }
      if (first <= peak_) continue;
      NodeOrder order = order_;
      const auto begin = order.begin() + static_cast<std::ptrdiff_t>(i);
      std::rotate(begin, begin + 1, order.begin() + static_cast<std::ptrdiff_t>(first));
      if (Accept(std::move(order))) return true;
    }
    return false;
  }

  // A node behind the peak goes before it, with all between them that it waits for.
  bool AdvanceWhatFrees() {
    const size_t end = std::min(order_.size(), peak_ + kFarthest);
    for (size_t i = peak_ + 1; i < end && budget_ > 0; ++i) {
      NodeOrder order = order_;
      if (MoveBeforePeak(i, order) && Accept(std::move(order))) return true;
    }
    return false;
  }

  // Returns false where it waits for the node at the peak.
  bool MoveBeforePeak(size_t place, NodeOrder& order) {
    std::vector<bool> goes(place - peak_ + 1);
    goes.back() = true;
    for (size_t i = place; i-- > peak_;) {  // its producers stand before
      for (NodeId successor : dependencies_.successors[order_[i]]) {
        const size_t at = place_[successor];
        if (at <= place && goes[at - peak_]) goes[i - peak_] = true;
      }
    }
    budget_ -= static_cast<int64_t>(goes.size());
    if (goes[0]) return false;
    std::stable_partition(order.begin() + static_cast<std::ptrdiff_t>(peak_),
                          order.begin() + static_cast<std::ptrdiff_t>(place + 1),
                          [&](NodeId node) { return goes[place_[node] - peak_]; });
    return true;
  }

  const Dependencies& dependencies_;
  NodeOrder order_;
  IdVector<NodeId, size_t> place_;  // in order_
  StepMemory memory_;               // before the first node
  Cost cost_;
  size_t peak_ = 0;  // the first place at which the peak is
  int64_t budget_ = kNodeRuns;
};

}  // namespace

NodeOrder ImproveAtPeak(const Graph& graph, const Dependencies& dependencies, NodeOrder order) {
  return Improver(graph, dependencies, std::move(order)).Run();
}

Schedule ImproveAtPeak(const Graph& graph, const Dependencies& dependencies,
                       const Schedule& schedule) {
  NodeOrder order;
  order.reserve(schedule.steps.size());
  for (const ScheduleStep& step : schedule.steps) order.push_back(step.node);
  Schedule improved;
  for (NodeId node : ImproveAtPeak(graph, dependencies, std::move(order))) {
    improved.steps.push_back({node, 0});
  }
  return improved;
}

}  // namespace cgrun
