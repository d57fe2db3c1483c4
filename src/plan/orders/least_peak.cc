// Order `least_peak`: greedy, by what each ready node would do to the memory.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "src/base/check.h"
#include "src/plan/orders/step_memory.h"
#include "src/plan/schedule.h"

namespace cgrun {
namespace {

// Nodes that could run next, by what they would add to the bytes that are
// alive: while they run, and from then on. Finding the best takes as long as
// there are different numbers of bytes.
class ReadyNodes {
 public:
  struct Entry {
    Bytes during = 0;
    Bytes left = 0;
    int64_t turn = 0;  // the smaller, the longer it has been ready
    NodeId node;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };

  bool empty() const { return by_during_.empty(); }
  void Add(const Entry& entry) { by_during_[entry.during].insert(entry); }
  void Remove(const Entry& entry) {
    const auto group = by_during_.find(entry.during);
    group->second.erase(entry);
    if (group->second.empty()) by_during_.erase(group);
  }

  // Returns the node that leaves the fewest bytes, among those that add no more than `most` while
  // they run. If there is none, it returns a node that adds the fewest then. Among equals, the node
  // that has been ready longest comes first.
  const Entry& Best(Bytes most) const {
    const Entry* best = &*by_during_.begin()->second.begin();
    for (const auto& [during, group] : by_during_) {
      if (during > most) break;
      const Entry& entry = *group.begin();
      if (std::pair(entry.left, entry.turn) < std::pair(best->left, best->turn)) best = &entry;
    }
    return *best;
  }

 private:
  std::map<Bytes, std::set<Entry>> by_during_;
};

class LeastPeak {
 public:
  LeastPeak(const Graph& graph, const Dependencies& dependencies)
      : dependencies_(dependencies),
        missing_(dependencies_.predecessor_count),
        memory_(graph),
        entry_of_(graph.nodes.size()) {
    for (NodeId node : graph.nodes.ids()) {
      if (missing_[node] == 0) MakeReady(node);
    }
  }

  Schedule Run() {
    Schedule schedule;
    schedule.steps.reserve(missing_.size());
    while (!ready_.empty()) {
      const NodeId node = TakeBest();
      peak_ = std::max(peak_, memory_.During(node));
      memory_.Run(node);
      schedule.steps.push_back({node, 0});
      RankAnew(node);
      for (NodeId successor : dependencies_.successors[node]) {
        if (--missing_[successor] == 0) MakeReady(successor);
      }
    }
    CGRUN_CHECK(schedule.steps.size() == missing_.size()) << "the dependencies have a cycle";
    return schedule;
  }

 private:
  NodeId TakeBest() {
    const ReadyNodes::Entry best = ready_.Best(peak_ - memory_.alive() - memory_.alive_beside());
    ready_.Remove(best);
    entry_of_[best.node].reset();
    return best.node;
  }

  void MakeReady(NodeId node) {
    entry_of_[node] = EntryOf(node, turns_++);
    ready_.Add(*entry_of_[node]);
  }

  // Those that `node`, which has just run, has left as the last readers of
  // something.
  void RankAnew(NodeId node) {
    std::vector<NodeId> readers;
    memory_.AppendReadersOfLast(node, readers);
    for (NodeId reader : readers) {
      if (!entry_of_[reader]) continue;
      ready_.Remove(*entry_of_[reader]);
      entry_of_[reader] = EntryOf(reader, entry_of_[reader]->turn);
      ready_.Add(*entry_of_[reader]);
    }
  }

  ReadyNodes::Entry EntryOf(NodeId node, int64_t turn) {
    const Bytes alive = memory_.alive();
    const Bytes during = memory_.During(node) - alive - memory_.alive_beside();
    memory_.Run(node);
    const Bytes left = memory_.alive() - alive;
    memory_.Undo(node);
    return {during, left, turn, node};
  }

  const Dependencies& dependencies_;
  IdVector<NodeId, int> missing_;
  StepMemory memory_;
  ReadyNodes ready_;
  IdVector<NodeId, std::optional<ReadyNodes::Entry>> entry_of_;  // of those that are ready
  int64_t turns_ = 0;
  Bytes peak_ = 0;
};

}  // namespace

Schedule OrderLeastPeak(const Graph& graph, const Dependencies& dependencies) {
  return LeastPeak(graph, dependencies).Run();
}

}  // namespace cgrun
