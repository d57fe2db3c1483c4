// Bytes that are alive while the nodes of a graph run one after the other, in any order: what
// ComputeLiveness and AssignBuffers find out about a whole schedule, kept from node to node. It
// follows their rules for views, updates and in-place operators; orders_test.cc holds it to them.
#ifndef CGRUN_PLAN_ORDERS_STEP_MEMORY_H_
#define CGRUN_PLAN_ORDERS_STEP_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/ir/graph.h"
#include "src/plan/memory_problem.h"

namespace cgrun {

// An order of a graph's nodes.
using NodeOrder = std::vector<NodeId>;

class StepMemory {
 public:
  // Nothing has run yet; what is fed is alive.
  explicit StepMemory(const Graph& graph);

  // Transient bytes that would be alive while `node` runs, were it next.
  Bytes During(NodeId node) const;
  // What `node` itself needs: less is alive in no order while it runs.
  Bytes LeastDuring(NodeId node) const;
  // Runs it: what nothing reads any more is gone.
  void Run(NodeId node);
  // Takes back the node that ran last.
  void TakeBack(NodeId node);

  // Appends the nodes that read what `node`, which has just run, and one other node alone read: for
  // that one, During() and what Run() leaves alive are others now.
  void AppendReadersOfLast(NodeId node, std::vector<NodeId>& readers) const;

  // Transient bytes that are alive between two nodes.
  Bytes alive() const { return alive_; }
  // Transient bytes that are alive besides while the next node runs, whichever that is.
  Bytes alive_beside() const { return run_ == 0 ? unread_feeds_ : 0; }

 private:
  using HolderId = Id<struct HolderTag>;

  // Values that share bytes in every order: views with what they view, updates with their state.
  struct Holder {
    Bytes bytes = 0;  // as they count in the device's arena, which aligns; 0 for what is persistent
    bool persistent = false;
    bool stays = false;  // to the end of the step
    int readers = 0;     // nodes that have not run yet
  };

  // The output lies in the input's bytes where this node is the last to read that.
  struct Overwrite {
    HolderId input;
    HolderId output;
  };

  // Places in operands_ and overwrites_: what it reads, each once, lies before what it makes. An
  // input and an output take part in one overwrite each.
  struct NodeUse {
    uint32_t reads = 0, makes = 0, makes_end = 0;
    uint32_t overwrites = 0, overwrites_end = 0;
    Bytes workspace = 0;
  };

  bool Dies(HolderId holder) const {
    return holders_[holder].readers == 0 && !holders_[holder].stays;
  }
  void AddHolders(const Graph& graph);
  void AddUse(const Graph& graph, NodeId id);
  void AddOverwrites(const Graph& graph, const Node& node);
  void AddReaders();
  std::span<const HolderId> Reads(const NodeUse& use) const {
    return std::span(operands_).subspan(use.reads, use.makes - use.reads);
  }
  std::span<const HolderId> Makes(const NodeUse& use) const {
    return std::span(operands_).subspan(use.makes, use.makes_end - use.makes);
  }
  std::span<const Overwrite> Overwrites(const NodeUse& use) const {
    return std::span(overwrites_).subspan(use.overwrites, use.overwrites_end - use.overwrites);
  }
  Bytes OverwrittenBytes(const NodeUse& use) const;

  IdVector<HolderId, Holder> holders_;
  IdVector<ValueId, HolderId> of_value_;
  IdVector<NodeId, bool> is_view_;  // of what it reads, so that it runs nothing
  IdVector<NodeId, NodeUse> uses_;
  std::vector<HolderId> operands_;
  std::vector<Overwrite> overwrites_;
  FlatLists<HolderId, NodeId> read_by_;
  IdVector<HolderId, NodeId> last_reader_;  // while uses are added
  Bytes alive_ = 0;
  Bytes unread_feeds_ = 0;  // alive in the first step alone
  int64_t run_ = 0;         // nodes
};

// The most transient bytes that are alive at a step of `order`: below that no plan can stay.
Bytes PeakOfOrder(const Graph& graph, std::span<const NodeId> order);

}  // namespace cgrun

#endif  // CGRUN_PLAN_ORDERS_STEP_MEMORY_H_
