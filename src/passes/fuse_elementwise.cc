// Operators that go element by element become one node where the target has a kernel for all of
// them together: it takes a few elements through the whole of it, so that what passes between the
// operators is never there as a tensor, and each operand goes from and to memory once.
//
//   a = sigmoid(x)
//   b = mul(a, y)        →  z = fused(x, y, h)
//   z = add(b, h)
//
// A node takes with it what it alone reads, and so on, as long as no step then needs more tensors
// at a time than before. A reduction may be the last one. The bits are those of the operators one
// by one. Where programs can run in part, nothing is joined: an operator that nothing has changed
// would run again with the others.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "src/ir/op_def.h"
#include "src/passes/pass.h"
#include "src/passes/rewrite.h"

namespace cgrun::passes {
namespace {

// Of a node. The bytes between its operators are saved already; what more would save is a call,
// and each test of a cone costs as much as the cone is large.
constexpr size_t kMostOperators = 64;

// The nodes that become one: the last has the result, which each of the others is for.
using Cone = std::set<std::pair<int, NodeId>>;  // by their places in an order

class Fuser {
 public:
  Fuser(Graph& graph, const PassContext& context)
      : graph_(graph),
        context_(context),
        readers_(graph),
        place_(graph.nodes.size(), 0),
        keep_node_(graph.nodes.size(), true),
        keep_value_(graph.values.size(), true) {}

  bool Run() {
    const std::vector<NodeId> order = TopologicalOrder(graph_);
    for (size_t i = 0; i < order.size(); ++i) place_[order[i]] = static_cast<int>(i);
    bool changed = false;
    for (size_t i = order.size(); i-- > 0;) {
      const Node& node = graph_.nodes[order[i]];
      if (keep_node_[order[i]] && (MayTakePart(node) || Reduces(node))) changed |= Fuse(order[i]);
    }
    if (changed) Compact(graph_, keep_node_, keep_value_);
    return changed;
  }

 private:
  bool Fuse(NodeId last) {
    Cone cone = {{place_[last], last}};
    std::optional<Node> fused;
    std::set<NodeId> refused;
    for (NodeId next = NextOf(cone, refused); next.valid(); next = NextOf(cone, refused)) {
      Cone larger = cone;
      larger.insert({place_[next], next});
      Node joined = Joined(larger);
      if (!NeedsNoMoreTensors(larger, joined) || !IsFaster(cone, fused, next, joined)) {
        refused.insert(next);
        continue;
      }
      cone = std::move(larger);
      fused = std::move(joined);
      if (fused->body.size() >= kMostOperators) break;
    }
    if (!fused) return false;
    for (const auto& [place, id] : cone) {
      if (id != last) keep_node_[id] = keep_value_[graph_.nodes[id].outputs[0]] = false;
    }
    graph_.nodes[last] = std::move(*fused);
    return true;
  }

  // A node that could join: the cone alone reads its result. Invalid where there is none.
  NodeId NextOf(const Cone& cone, const std::set<NodeId>& refused) const {
    const Node& last = graph_.nodes[cone.rbegin()->second];
    for (const auto& [place, id] : cone) {
      for (const ValueId input : graph_.nodes[id].inputs) {
        const NodeId producer = graph_.values[input].producer;
        if (!producer.valid() || cone.contains({place_[producer], producer})) continue;
        const Node& node = graph_.nodes[producer];
        const bool together = node.phase == last.phase && node.path == last.path &&
                              TypeOf(input).shape == ShapeOf(last);
        if (together && MayTakePart(node) && !refused.contains(producer) && IsOf(cone, input)) {
          return producer;
        }
      }
    }
    return {};
  }

  static bool Reduces(const Node& node) {
    return node.op == OpId::reduce_sum || node.op == OpId::reduce_mean ||
           node.op == OpId::reduce_max;
  }

  // What a cone goes through has the shape of its result, or of what it reduces.
  const Shape& ShapeOf(const Node& last) const {
    return TypeOf(Reduces(last) ? last.inputs[0] : last.outputs[0]).shape;
  }

  // Whether nothing but the cone reads the value.
  bool IsOf(const Cone& cone, ValueId value) const {
    return readers_.IsInternal(value) && std::ranges::all_of(readers_[value], [&](NodeId reader) {
             return cone.contains({place_[reader], reader});
           });
  }

  // Only the target knows which operators it has such kernels for. They have one result, and their
  // operands lie in step with it.
  bool MayTakePart(const Node& node) const {
    const OpDef& def = GetOpDef(node.op);
    const bool plain = !def.view && !def.needs_step && !def.has_effect && UpdatesOf(node).empty();
    if (node.outputs.size() != 1 || !plain) return false;
    const Shape& shape = TypeOf(node.outputs[0]).shape;
    return std::ranges::all_of(node.inputs, [&](ValueId input) {
      return TypeOf(input).shape == shape || IsOneElement(TypeOf(input));
    });
  }

  // Its inputs are those of the cone's nodes, each once; its body is theirs, in their order.
  Node Joined(const Cone& cone) const {
    const Node& last = graph_.nodes[cone.rbegin()->second];
    Node fused = last;
    fused.op = OpId::fused;
    fused.attributes = Attributes();
    fused.inputs.clear();
    fused.body.clear();
    std::map<ValueId, int> operands;  // of what the body makes
    for (const auto& [place, id] : cone) {
      const Node& node = graph_.nodes[id];
      std::vector<int> of_inputs;
      for (const ValueId input : node.inputs) {
        const auto [it, is_new] = operands.insert({input, static_cast<int>(fused.inputs.size())});
        if (is_new) fused.inputs.push_back(input);
        of_inputs.push_back(it->second);
      }
      const int before = static_cast<int>(fused.body.size());
      for (FusedOperator inner : BodyOf(node)) {
        for (int& operand : inner.operands) {
          operand = operand < 0 ? operand - before : of_inputs[static_cast<size_t>(operand)];
        }
        fused.body.push_back(std::move(inner));
      }
      operands[node.outputs[0]] = -static_cast<int>(fused.body.size());
    }
    return fused;
  }

  // The tensors that a node reads for the last time, as far as can be told without an order.
  int64_t LastReads(const Cone& cone, const Node& node) const {
    const std::set<ValueId> inputs(node.inputs.begin(), node.inputs.end());
    return std::ranges::count_if(inputs, [&](ValueId input) {
      return graph_.values[input].producer.valid() && !IsOneElement(TypeOf(input)) &&
             IsOf(cone, input);
    });
  }

  bool NeedsNoMoreTensors(const Cone& cone, const Node& joined) const {
    int64_t most = 0;
    for (const auto& [place, id] : cone) most = std::max(most, LastReads(cone, graph_.nodes[id]));
    return LastReads(cone, joined) <= most;
  }

  bool IsFaster(const Cone& cone, const std::optional<Node>& fused, NodeId next,
                const Node& joined) const {
    const Node& alone = graph_.nodes[cone.rbegin()->second];
    const auto before = BestOption(graph_, fused ? *fused : alone, context_);
    const auto producer = BestOption(graph_, graph_.nodes[next], context_);
    const auto together = BestOption(graph_, joined, context_);
    if (!before || !producer || !together) return false;
    const int64_t apart = before->workspace_bytes + BytesOf(graph_.nodes[next].outputs[0]);
    if (Reduces(alone) && together->workspace_bytes >= apart) return false;  // it is still there
    return together->seconds < before->seconds + producer->seconds;
  }

  int64_t BytesOf(ValueId value) const {
    TensorType type = TypeOf(value);
    type.shape = type.shape.Bind(context_.batch);
    return ByteSize(type);
  }

  const TensorType& TypeOf(ValueId value) const { return graph_.values[value].type; }
  static bool IsOneElement(const TensorType& type) {
    return type.shape.IsBound() && type.shape.Elements() == 1;
  }

  Graph& graph_;
  const PassContext& context_;
  const GraphReaders readers_;
  IdVector<NodeId, int> place_;  // in a topological order
  IdVector<NodeId, bool> keep_node_;
  IdVector<ValueId, bool> keep_value_;
};

}  // namespace

bool FuseElementwise(Graph& graph, const PassContext& context) {
  return !context.incremental && Fuser(graph, context).Run();
}

}  // namespace cgrun::passes
