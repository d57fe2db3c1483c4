// Common sub-expressions: nodes of one operator, equal attributes and the same inputs are computed
// once; equal constants are kept once. Random operators differ in their key, updates are never
// merged.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/ir/op_def.h"
#include "src/passes/pass.h"
#include "src/passes/rewriter.h"

namespace cgrun::passes {
namespace {

// The first of the nodes that compute the same, by a hash of what tells them apart.
class FirstNodes {
 public:
  explicit FirstNodes(const Graph& graph)
      : graph_(graph), slots_(std::bit_ceil(2 * graph.nodes.size() + 2)) {}

  // The first node that computes the same as this one, which is that from now on if there is none.
  // The inputs of nodes that were given do not change any more.
  NodeId FirstLike(NodeId id) {
    const Key key(graph_.nodes[id]);
    const size_t mask = slots_.size() - 1;
    for (size_t place = key.hash & mask;; place = (place + 1) & mask) {
      Slot& slot = slots_[place];
      if (!slot.node.valid()) {
        slot = {key.hash, id};
        return id;
      }
      if (slot.hash == key.hash && Key(graph_.nodes[slot.node]) == key) return slot.node;
    }
  }

 private:
  // A node as others can be like it: of a commutative operator the first two inputs are sorted.
  struct Key {
    explicit Key(const Node& of) : node(of) {
      if (of.inputs.size() >= 2) {
        front = {of.inputs[0], of.inputs[1]};
        if (GetOpDef(of.op).commutative) front = std::minmax(of.inputs[0], of.inputs[1]);
      }
      const auto add = [this](uint64_t item) {
        constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // 2⁶⁴ over the golden ratio
        hash = (hash ^ item) * kMultiplier;
        hash ^= hash >> 32;
      };
      add(static_cast<uint64_t>(of.op));
      add(of.attributes.Hash());
      add(of.inputs.size());
      for (size_t i = 0; i < of.inputs.size(); ++i) add(static_cast<uint64_t>(Input(i).index));
    }

    ValueId Input(size_t i) const {
      if (node.inputs.size() < 2 || i > 1) return node.inputs[i];
      return i == 0 ? front.first : front.second;
    }

    friend bool operator==(const Key& a, const Key& b) {
      if (a.node.op != b.node.op || a.node.inputs.size() != b.node.inputs.size()) return false;
      for (size_t i = 0; i < a.node.inputs.size(); ++i) {
        if (a.Input(i) != b.Input(i)) return false;
      }
      // As texts, which tell 0 from −0.
      return a.node.attributes.ToString() == b.node.attributes.ToString();
    }

    const Node& node;
    std::pair<ValueId, ValueId> front;
    uint64_t hash = 0;
  };

  struct Slot {
    uint64_t hash = 0;
    NodeId node;  // invalid: the slot is free
  };

  const Graph& graph_;
  std::vector<Slot> slots_;  // a power of two, at most half of them taken
};

bool CanMerge(const Node& node) {
  return node.op != OpId::fused && !node.recomputes.valid() && node.phase != Phase::kUpdate &&
         !GetOpDef(node.op).has_effect;
}

bool MergeConstants(Rewriter& rewriter) {
  const Graph& graph = rewriter.graph();
  std::map<std::string, ValueId> first;
  bool changed = false;
  for (const auto& [id, tensor] : graph.constants) {
    if (!rewriter.IsRead(id)) continue;
    std::string key = graph.values[id].type.ToString() + ":";
    key.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
    const auto [it, is_new] = first.emplace(std::move(key), id);
    if (is_new) continue;
    rewriter.ReplaceUses(id, it->second);
    changed = true;
  }
  return changed;
}

}  // namespace

bool MergeCommonSubexpressions(Graph& graph, const PassContext&) {
  Rewriter rewriter(graph);
  bool changed = MergeConstants(rewriter);
  FirstNodes first(graph);
  for (NodeId id : TopologicalOrder(graph)) {
    const Node& node = graph.nodes[id];
    if (!CanMerge(node)) continue;
    const NodeId like = first.FirstLike(id);
    if (like == id) continue;
    const std::vector<ValueId>& originals = graph.nodes[like].outputs;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      changed |= rewriter.IsRead(node.outputs[i]);
      rewriter.ReplaceUses(node.outputs[i], originals[i]);
    }
  }
  return changed;
}

}  // namespace cgrun::passes
