// Order `least_peak`: greedy, by what each ready node would do to the memory.
#include <algorithm>
#include <utility>
#include <vector>

#include "src/base/check.h"
#include "src/plan/orders/step_memory.h"
#include "src/plan/schedule.h"

namespace cgrun {
namespace {

class LeastPeak {
 public:
  explicit LeastPeak(const Graph& graph)
      : dependencies_(DependenciesOf(graph)),
        missing_(dependencies_.predecessor_count),
        memory_(graph) {
    for (NodeId node : graph.nodes.ids()) {
      if (missing_[node] == 0) ready_.push_back(node);
    }
  }

  Schedule Run() {
    Schedule schedule;
    while (!ready_.empty()) {
      const NodeId node = TakeBest();
      peak_ = std::max(peak_, memory_.During(node));
      memory_.Run(node);
      schedule.steps.push_back({node, 0});
      for (NodeId successor : dependencies_.successors[node]) {
        if (--missing_[successor] == 0) ready_.push_back(successor);
      }
    }
    CGRUN_CHECK(schedule.steps.size() == missing_.size()) << "the dependencies have a cycle";
    return schedule;
  }

 private:
  NodeId TakeBest() {
    auto best = ready_.begin();
    std::pair<Bytes, Bytes> best_key = KeyOf(*best);
    for (auto it = best + 1; it != ready_.end(); ++it) {
      const std::pair<Bytes, Bytes> key = KeyOf(*it);
      if (key >= best_key) continue;
      best = it;
      best_key = key;
    }
    const NodeId node = *best;
    ready_.erase(best);
    return node;
  }

  // The peak that would be, and the bytes that would be left behind.
  std::pair<Bytes, Bytes> KeyOf(NodeId node) {
    const Bytes peak = std::max(peak_, memory_.During(node));
    memory_.Run(node);
    const Bytes left = memory_.alive();
    memory_.TakeBack(node);
    return {peak, left};
  }

  const Dependencies dependencies_;
  IdVector<NodeId, int> missing_;
  StepMemory memory_;
  std::vector<NodeId> ready_;  // the longest ready first
  Bytes peak_ = 0;
};

}  // namespace

Schedule OrderLeastPeak(const Graph& graph) { return LeastPeak(graph).Run(); }

}  // namespace cgrun
