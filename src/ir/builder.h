// Builder: adds values and nodes to a graph with inferred types and unique names.
#ifndef CGRUN_IR_BUILDER_H_
#define CGRUN_IR_BUILDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "src/ir/graph.h"
#include "src/ir/op_def.h"

namespace cgrun {

// The names of a graph, by a hash of 64 bits. Two names of one hash, a chance of one in 2⁶⁴, count
// as one: the second to come gets a suffix that it would not need.
class NameTable {
 public:
  explicit NameTable(const Graph& graph);

  // Returns false where the name is there.
  bool Insert(std::string_view name, ValueId value = {});
  // The value of a name that is there; invalid where that is of a node alone, or not used yet.
  ValueId& At(std::string_view name);
  // Returns null where there is no such name.
  const ValueId* Find(std::string_view name) const;

 private:
  struct Slot {
    uint64_t hash = 0;
    ValueId value;
    bool is_taken = false;
  };

  // The slot of a name, or the free one that it would take.
  size_t PlaceOf(uint64_t hash) const;
  void Grow(size_t slots);

  std::vector<Slot>
      slots_;  // a power of two, at most half of them taken; searched from the hash on
  size_t taken_ = 0;
};

class Builder {
 public:
  // Builds into `graph`, which must outlive the builder. Names in the graph are known to it.
  explicit Builder(Graph& graph);

  // Adds a value that no node produces.
  ValueId AddSource(Role role, Zone zone, TensorType type, std::string_view name,
                    SourceMark mark = {});
  ValueId AddConstant(HostTensor tensor, std::string_view name, SourceMark mark = {});

  struct NodeOptions {
    Phase phase = Phase::kForward;
    PathId path;
    SourceMark mark;
    Role output_role = Role::kIntermediate;
    Zone output_zone = Zone::kForward;
  };
  // Adds a node whose types must be right (a check): for the compiler's own nodes. The first output
  // has the node's name, the others `name.output`. Returns the outputs.
  std::vector<ValueId> AddNode(OpId op, Attributes attributes, std::vector<ValueId> inputs,
                               std::string_view name, const NodeOptions& options);

  // The same for what a user wrote: inference errors are reported with both shapes, once for a
  // place, and nothing is added.
  std::optional<std::vector<ValueId>> TryAddNode(OpId op, Attributes attributes,
                                                 std::vector<ValueId> inputs, std::string_view name,
                                                 const NodeOptions& options,
                                                 Diagnostics& diagnostics);

  // `wish`, or `wish.2`, `wish.3`, … where it is taken.
  std::string UniqueName(std::string_view wish);

  // As Graph::FindValue, without a search, for a graph whose values no one else names.
  ValueId FindValue(std::string_view name);

  Graph& graph() { return graph_; }

 private:
  std::vector<ValueId> Append(OpId op, Attributes attributes, std::vector<ValueId> inputs,
                              std::vector<TensorType> types, std::string_view name,
                              const NodeOptions& options);
  // A value whose name UniqueName() gave.
  ValueId Add(Value value);

  // Returns whether the same was said of the same place: a network can be used several times.
  bool WasTold(const SourceMark& mark, const std::string& message);

  // Those of the graph, from the first time on that it is asked for.
  NameTable& names();

  Graph& graph_;
  std::optional<NameTable> names_;
  std::unordered_map<std::string, int> last_suffix_;  // of each wish that was taken
  std::unordered_set<std::string> told_;
};

}  // namespace cgrun

#endif  // CGRUN_IR_BUILDER_H_
