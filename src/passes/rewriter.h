// Rewriter edits a graph and keeps an index of readers: an edit costs what it changes.
#ifndef CGRUN_PASSES_REWRITER_H_
#define CGRUN_PASSES_REWRITER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/ir/builder.h"
#include "src/ir/graph.h"

namespace cgrun {

// While it lives, inputs change and nodes and constants are added through it alone.
class Rewriter {
 public:
  // The graph outlives the rewriter.
  explicit Rewriter(Graph& graph);

  const Graph& graph() const { return graph_; }

  // Everything that reads `from` (nodes, outputs, updates, losses) reads `to` instead. Both have
  // one type.
  void ReplaceUses(ValueId from, ValueId to);
  void SetInput(NodeId node, size_t input, ValueId value);
  void SetInputs(NodeId node, std::vector<ValueId> inputs);
  // The operator of a node becomes another one; its inputs stay.
  void SetOperator(NodeId node, OpId op, Attributes attributes);

  // These functions do the same as those of Builder.
  ValueId AddConstant(HostTensor tensor, std::string_view name, SourceMark mark);
  std::vector<ValueId> AddNode(OpId op, Attributes attributes, std::vector<ValueId> inputs,
                               std::string_view name, const Builder::NodeOptions& options);

  // Operands of nodes that are the value: a node that reads it twice counts twice.
  int64_t Operands(ValueId value) const { return operands_[value]; }
  // Nothing outside the graph's nodes reads the value.
  bool IsInternal(ValueId value) const {
    return outputs_.first[value] < 0 && updates_.first[value] < 0;
  }
  // A node, an output or an update reads it.
  bool IsRead(ValueId value) const { return Operands(value) > 0 || !IsInternal(value); }

 private:
  struct Operand {
    NodeId node;
    int32_t input = 0;
  };
  // Places in a vector of the graph, by the value that stands there: lists in one vector.
  struct Places {
    IdVector<ValueId, int32_t> first;  // of the places of a value; −1 where there is none
    std::vector<int32_t> next;         // behind each place; −1 at the end
    void Add(ValueId value, int32_t place);
    // Calls `move` with each place of `from`, where `to` stands from now on.
    template <class Visitor>
    void Move(ValueId from, ValueId to, const Visitor& move);
  };

  Builder& builder();
  void NoteValues();
  void NoteInputs(NodeId node);
  void AddOperand(NodeId node, size_t input);

  Graph& graph_;
  std::optional<Builder> builder_;  // once anything is added
  IdVector<ValueId, int64_t> operands_;
  // Every operand of each value, and some that were operands of it before: those of the graph that
  // was given, but for values that were replaced, and those that edits have added.
  FlatLists<ValueId, Operand> uses_;
  IdVector<ValueId, bool> is_replaced_;
  std::unordered_map<ValueId, std::vector<Operand>> more_uses_;
  Places outputs_, updates_, losses_;
};

}  // namespace cgrun

#endif  // CGRUN_PASSES_REWRITER_H_
