// Bytes that are alive while the nodes of a graph run one after the other, in any order. The alias
// model (alias_model.h) says once what shares bytes in every order, and what can be overwritten in
// some. From there on the bytes are counted from node to node.
#ifndef CGRUN_PLAN_ORDERS_STEP_MEMORY_H_
#define CGRUN_PLAN_ORDERS_STEP_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/ir/graph.h"
#include "src/plan/alias_model.h"

namespace cgrun {

// An order lists each node of a graph once.
using NodeOrder = std::vector<NodeId>;

class StepMemory {
 public:
  // Nothing has run yet; what is fed is alive.
  explicit StepMemory(const Graph& graph);

  // Returns the transient bytes that would be alive while `node` runs, if it were next.
  Bytes During(NodeId node) const;
  // Returns the bytes that `node` itself needs. In every order at least as many are alive while it
  // runs.
  Bytes LeastDuring(NodeId node) const;
  // Runs the node. Bytes that nothing reads any more are gone.
  void Run(NodeId node);
  // Undoes the run of the node that ran last.
  void Undo(NodeId node);

  // Appends the readers of each value that `node`, which has just run, has read and that only one
  // node has still to read. For that node, During() and the bytes that Run() leaves alive have
  // changed.
  void AppendReadersOfLast(NodeId node, std::vector<NodeId>& readers) const;

  // Transient bytes that are alive between two nodes.
  Bytes alive() const { return alive_; }
  // Returns the transient bytes that are alive besides while the next node runs, whichever that is.
  Bytes alive_beside() const { return run_ == 0 ? unread_feeds_ : 0; }

 private:
  // Describes an alias set in every order: views with the viewed value, updates with their state.
  struct Use {
    Bytes bytes = 0;     // AliasFacts::Transient()
    bool stays = false;  // to the end of the step
    int readers = 0;     // nodes that have not run yet
  };

  // The output lies in the input's bytes where this node is the last to read that.
  struct Overwrite {
    AliasSetId input;
    AliasSetId output;
  };

  // Places in operands_ and overwrites_: what it reads, each once, lies before what it makes. An
  // input and an output take part in one overwrite each.
  struct NodeUse {
    uint32_t reads = 0, makes = 0, makes_end = 0;
    uint32_t overwrites = 0, overwrites_end = 0;
    Bytes workspace = 0;
  };

  bool Dies(AliasSetId set) const { return sets_[set].readers == 0 && !sets_[set].stays; }
  void AddNodeUse(const AliasModel& model, const NodeRun& run);
  void AddReaders();
  std::span<const AliasSetId> Reads(const NodeUse& use) const {
    return std::span(operands_).subspan(use.reads, use.makes - use.reads);
  }
  std::span<const AliasSetId> Makes(const NodeUse& use) const {
    return std::span(operands_).subspan(use.makes, use.makes_end - use.makes);
  }
  std::span<const Overwrite> Overwrites(const NodeUse& use) const {
    return std::span(overwrites_).subspan(use.overwrites, use.overwrites_end - use.overwrites);
  }
  Bytes OverwrittenBytes(const NodeUse& use) const;

  IdVector<AliasSetId, Use> sets_;
  IdVector<NodeId, NodeUse> uses_;
  std::vector<AliasSetId> operands_;
  std::vector<Overwrite> overwrites_;
  FlatLists<AliasSetId, NodeId> read_by_;
  IdVector<AliasSetId, NodeId> last_reader_;  // while uses are added
  Bytes alive_ = 0;
  Bytes unread_feeds_ = 0;  // alive in the first step alone
  int64_t run_ = 0;         // nodes
};

}  // namespace cgrun

#endif  // CGRUN_PLAN_ORDERS_STEP_MEMORY_H_
