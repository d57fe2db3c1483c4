// If the target has one kernel for several operators that go element by element, these become one
// node. The kernel takes a few elements through the whole of it. So no tensor exists between the
// operators, and each operand goes from and to memory once.
//
//   a = sigmoid(x)
//   b = mul(a, y)        →  z = fused(x, y, h)
//   z = add(b, h)
//
// A node takes with it what it alone reads, and so on, as long as no step then needs more tensors
// at a time than before. A reduction may be the last one. The bits are those of the operators one
// by one. If programs can run in part, nothing is joined, because unchanged operators would run
// with the others.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "src/ir/op_def.h"
#include "src/passes/fusion.h"
#include "src/passes/pass.h"

namespace cgrun::passes {
namespace {

// A node has no more. The bytes between its operators are saved already: more operators would save
// calls alone, and each test of a cone costs as much as the cone is large.
constexpr size_t kMostOperators = 64;

// The nodes that become one: the last has the result, which each of the others is for.
using Cone = std::set<std::pair<int, NodeId>>;  // by their places in an order

bool Reduces(const Node& node) {
  return node.op == OpId::reduce_sum || node.op == OpId::reduce_mean || node.op == OpId::reduce_max;
}

bool IsOneElement(const TensorType& type) {
  return type.shape.IsBound() && type.shape.Elements() == 1;
}

// Only the target knows which operators it has such kernels for. They have one result, and their
// operands lie in step with it.
bool MayTakePart(const FusionView& view, const Node& node) {
  const OpDef& def = GetOpDef(node.op);
  const bool plain = !def.view && !def.needs_step && !def.has_effect && UpdatesOf(node).empty();
  if (node.outputs.size() != 1 || !plain) return false;
  const Shape& shape = view.type(node.outputs[0]).shape;
  return std::ranges::all_of(node.inputs, [&](ValueId input) {
    return view.type(input).shape == shape || IsOneElement(view.type(input));
  });
}

// Grows a cone from its last node.
class Grower {
 public:
  Grower(const FusionView& view, NodeId last)
      : view_(view), last_(last), cone_{{view.place[last], last}} {}

  std::optional<Fusion> Run() {
    std::optional<Node> fused;
    std::set<NodeId> refused;
    for (NodeId next = NextOf(refused); next.valid(); next = NextOf(refused)) {
      Cone larger = cone_;
      larger.insert({view_.place[next], next});
      Node joined = Joined(larger);
      if (!NeedsNoMoreTensors(larger, joined) || !Pays(fused, next, joined)) {
        refused.insert(next);
        continue;
      }
      cone_ = std::move(larger);
      fused = std::move(joined);
      if (fused->body.size() >= kMostOperators) break;
    }
    if (!fused) return std::nullopt;
    Fusion fusion{{{last_, std::move(*fused)}}, {}};
    for (const auto& [place, id] : cone_) {
      if (id != last_) fusion.gone.push_back(id);
    }
    return fusion;
  }

 private:
  const Node& last() const { return view_.node(last_); }

  // A node that could join: the cone alone reads its result. The result is invalid where there is
  // none.
  NodeId NextOf(const std::set<NodeId>& refused) const {
    for (const auto& [place, id] : cone_) {
      for (const ValueId input : view_.node(id).inputs) {
        const NodeId producer = view_.producer(input);
        if (!producer.valid() || cone_.contains({view_.place[producer], producer})) continue;
        const Node& node = view_.node(producer);
        const bool together = OfOnePlace(node, last()) && view_.type(input).shape == Shared().shape;
        if (together && MayTakePart(view_, node) && !refused.contains(producer) &&
            IsOf(cone_, input)) {
          return producer;
        }
      }
    }
    return {};
  }

  // All tensors inside a cone have the shape of its result, or of the operand that it reduces.
  const TensorType& Shared() const {
    return view_.type(Reduces(last()) ? last().inputs[0] : last().outputs[0]);
  }

  // Returns whether nothing but the cone reads the value.
  bool IsOf(const Cone& cone, ValueId value) const {
    return view_.readers.IsInternal(value) &&
           std::ranges::all_of(view_.readers[value], [&](NodeId reader) {
             return cone.contains({view_.place[reader], reader});
           });
  }

  // Its inputs are those of the cone's nodes, each once; its body is theirs, in their order.
  Node Joined(const Cone& cone) const {
    Node fused = last();
    fused.op = OpId::fused;
    fused.attributes = Attributes();
    fused.inputs.clear();
    fused.body.clear();
    std::map<ValueId, int> operands;  // of what the body makes
    for (const auto& [place, id] : cone) {
      const Node& node = view_.node(id);
      std::vector<int> of_inputs;
      for (const ValueId input : node.inputs) {
        const auto [it, is_new] = operands.insert({input, static_cast<int>(fused.inputs.size())});
        if (is_new) fused.inputs.push_back(input);
        of_inputs.push_back(it->second);
      }
      AppendBody(fused, node, of_inputs);
      operands[node.outputs[0]] = -static_cast<int>(fused.body.size());
    }
    return fused;
  }

  // The tensors that a node reads for the last time, as far as can be told without an order.
  int64_t LastReads(const Cone& cone, const Node& node) const {
    const std::set<ValueId> inputs(node.inputs.begin(), node.inputs.end());
    return std::ranges::count_if(inputs, [&](ValueId input) {
      return view_.producer(input).valid() && !IsOneElement(view_.type(input)) && IsOf(cone, input);
    });
  }

  bool NeedsNoMoreTensors(const Cone& cone, const Node& joined) const {
    int64_t most = 0;
    for (const auto& [place, id] : cone) most = std::max(most, LastReads(cone, view_.node(id)));
    return LastReads(cone, joined) <= most;
  }

  bool Pays(const std::optional<Node>& fused, NodeId next, const Node& joined) const {
    const Node& before = fused ? *fused : last();
    if (!view_.IsFaster(joined, {&before, &view_.node(next)})) return false;
    if (!Reduces(last())) return true;
    // The operand of a reduction must not lie in the workspace as a whole.
    const int64_t between = view_.BytesOf(view_.node(next).outputs[0]);
    return view_.Best(joined)->workspace_bytes < view_.Best(before)->workspace_bytes + between;
  }

  const FusionView& view_;
  const NodeId last_;
  Cone cone_;
};

std::optional<Fusion> MatchChain(const FusionView& view, NodeId last) {
  const Node& node = view.node(last);
  if (!MayTakePart(view, node) && !Reduces(node)) return std::nullopt;
  return Grower(view, last).Run();
}

constexpr FusionPattern kElementwisePatterns[] = {{MatchChain, /*from_the_end=*/true}};

}  // namespace

bool FuseElementwise(Graph& graph, const PassContext& context) {
  return !context.incremental && Fuse(graph, kElementwisePatterns, context);
}

}  // namespace cgrun::passes
