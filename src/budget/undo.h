// Undoing recomputations and swaps that later decisions have made needless.
#ifndef CGRUN_BUDGET_UNDO_H_
#define CGRUN_BUDGET_UNDO_H_

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "src/plan/alias_model.h"

namespace cgrun {

// Undoes the recomputation of `again`: the readers use the original results again. Recomputations
// that nothing reads go as well, before that and then. `schedule` keeps the order of the other
// nodes, in which a first run may stand behind such a reader.
void UndoRecompute(Graph& graph, Schedule& schedule, const std::vector<NodeId>& again);

// Tries nodes one after the other, each without those that were accepted before. The graph stays as
// it is; UndoRecompute() changes it once, in the end.
class UndoTrials {
 public:
  // All outlive it.
  UndoTrials(const Graph& graph, const Schedule& schedule, const BufferOptions& options);

  // The bytes that are alive at each step if `id`, a recomputation or a swap_out, is undone.
  // Returns null where it has gone with another one, or a reader would come before what it reads.
  const std::vector<Bytes>* Try(NodeId id);
  // Accepts what was tried last.
  void Keep() { edits_.clear(); }

 private:
  struct Edit {
    enum class Kind { kInput, kReader, kRemoved, kFirst } kind;
    NodeId node;            // whose input, or which has gone, or whose first run is another one
    size_t input = 0;       // of kInput
    ValueId value = {};     // that was the input, or has got a reader
    NodeId first_run = {};  // before
  };

  // Places in inputs_.
  struct Operands {
    uint32_t begin = 0, count = 0;
  };

  std::span<ValueId> Inputs(NodeId id) {
    const Operands place = inputs_of_[id];
    return std::span(inputs_).subspan(place.begin, place.count);
  }
  std::span<const ValueId> Inputs(NodeId id) const {
    const Operands place = inputs_of_[id];
    return std::span(inputs_).subspan(place.begin, place.count);
  }

  void Undo();
  void Remove(NodeId id);
  bool IsReadElsewhere(NodeId id) const;
  bool ReadInstead(ValueId value, ValueId instead);
  bool UndoRun(NodeId id);
  bool UndoSwap(NodeId out);
  ValueId Viewed(ValueId value) const;

  const Graph& graph_;
  AliasModel model_;
  std::vector<NodeId> order_;
  IdVector<NodeId, TimePoint> time_;
  IdVector<ValueId, TimePoint> changed_at_;  // of states
  std::vector<ValueId> inputs_;
  IdVector<NodeId, Operands> inputs_of_;
  IdVector<NodeId, NodeId> first_run_;  // of a recomputation
  IdVector<NodeId, bool> is_gone_;
  // Those of the graph, and those that read it instead of another value; some may have gone, or
  // read something else.
  ReaderLists readers_;
  IdVector<ValueId, std::vector<NodeId>> more_readers_;
  std::vector<Edit> edits_;  // of the last trial
  std::vector<NodeRun> runs_;
};

}  // namespace cgrun

#endif  // CGRUN_BUDGET_UNDO_H_
