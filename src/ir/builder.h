// Builder: adds values and nodes to a graph with inferred types and unique names.
#ifndef CGRUN_IR_BUILDER_H_
#define CGRUN_IR_BUILDER_H_

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "src/ir/graph.h"
#include "src/ir/op_def.h"

namespace cgrun {

class Builder {
 public:
  // Builds into `graph`, which must outlive the builder. Names in the graph are known to it.
  explicit Builder(Graph& graph);

  // A value without a producer.
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
  ValueId FindValue(std::string_view name) const;

  Graph& graph() { return graph_; }

 private:
  std::vector<ValueId> Append(OpId op, Attributes attributes, std::vector<ValueId> inputs,
                              std::vector<TensorType> types, std::string_view name,
                              const NodeOptions& options);
  // A value whose name UniqueName() gave.
  ValueId Add(Value value);

  // Whether the same was said of the same place: a network can be used several times.
  bool WasTold(const SourceMark& mark, const std::string& message);

  Graph& graph_;
  std::unordered_map<std::string, ValueId> names_;    // invalid where no value has the name
  std::unordered_map<std::string, int> last_suffix_;  // of each wish that was taken
  std::unordered_set<std::string> told_;
};

}  // namespace cgrun

#endif  // CGRUN_IR_BUILDER_H_
