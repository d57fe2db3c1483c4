// What is added to the result of a batch_norm in training, and the relu or clip behind, as at the
// end of a residual block, become a part of it: that result is never there. The gradient of the
// sum, which others read too, is made in the first sweep of the norm's gradient.
//
//   n = batch_norm(x, …)
//   y = fused(n, skip) {add, relu}       →  y = batch_norm_add(x, skip, …) min=0
//
//   ds = fused(a, b, y) {add, relu_grad}
//   dx = batch_norm_grad(x, ds, …)       →  dx, ds = batch_norm_add_grad(x, a, …, y, b) min=0
//
// No bit changes. Longer chains stay as they are: what is left of one would go through memory once
// more. Where programs can run in part, nothing is joined, as in fuse_elementwise.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "src/ops/batch_norm.h"
#include "src/ops/clip.h"
#include "src/passes/clip_in_norm.h"
#include "src/passes/pass.h"
#include "src/passes/rewrite.h"

namespace cgrun::passes {
namespace {

// An addition of two tensors with a clip behind it, in the operands of the node.
struct ClippedSum {
  int first = 0, second = 0;
  ClipAttributes bounds;
};

// The gradient of that clip: of one part of dy or of two, and of what was clipped.
struct ClipGradient {
  std::vector<int> parts;
  int result = 0;
  ClipAttributes bounds;
};

std::optional<ClippedSum> ClippedSumOf(const Node& node) {
  const std::vector<FusedOperator>& body = node.body;
  if (body.size() != 2 || body[0].op != OpId::add) return std::nullopt;
  const auto bounds = ClipBoundsOf(body[1].op, body[1].attributes, OpId::relu, OpId::clip);
  if (!bounds) return std::nullopt;
  return ClippedSum{body[0].operands[0], body[0].operands[1], *bounds};
}

std::optional<ClipGradient> ClipGradientOf(const Node& node) {
  if (node.op != OpId::fused) {
    const auto bounds = ClipBoundsOf(node.op, node.attributes, OpId::relu_grad, OpId::clip_grad);
    if (!bounds) return std::nullopt;
    return ClipGradient{{1}, 0, *bounds};
  }
  const std::vector<FusedOperator>& body = node.body;
  if (body.size() != 2 || body[0].op != OpId::add) return std::nullopt;
  const auto bounds =
      ClipBoundsOf(body[1].op, body[1].attributes, OpId::relu_grad, OpId::clip_grad);
  const bool of_sum = body[1].operands[0] >= 0 && body[1].operands[1] < 0;
  if (!bounds || !of_sum) return std::nullopt;
  return ClipGradient{body[0].operands, body[1].operands[0], *bounds};
}

bool IsPlainInTraining(const Node& batch_norm) {
  const auto& attributes = batch_norm.attributes.As<BatchNormAttributes>();
  return attributes.training && !attributes.clips();
}

class Fuser {
 public:
  Fuser(Graph& graph, const PassContext& context)
      : graph_(graph),
        context_(context),
        readers_(graph),
        keep_node_(graph.nodes.size(), true),
        keep_value_(graph.values.size(), true) {}

  bool Run() {
    for (NodeId id : graph_.nodes.ids()) {
      if (keep_node_[id]) FuseSum(id);
    }
    for (NodeId id : graph_.nodes.ids()) {
      if (keep_node_[id]) FuseGradient(id);
    }
    if (changed_) Compact(graph_, keep_node_, keep_value_);
    return changed_;
  }

 private:
  void FuseSum(NodeId id) {
    const Node sum = graph_.nodes[id];
    const std::optional<ClippedSum> found = ClippedSumOf(sum);
    if (!found) return;
    if (!FuseSum(id, sum, *found, found->first, found->second)) {
      FuseSum(id, sum, *found, found->second, found->first);
    }
  }

  // With the norm that makes input `of_norm` of the node. Its place is the node's, behind what is
  // added.
  bool FuseSum(NodeId id, const Node& sum, const ClippedSum& found, int of_norm, int addend) {
    const ValueId between = sum.inputs[static_cast<size_t>(of_norm)];
    const ValueId added = sum.inputs[static_cast<size_t>(addend)];
    const NodeId norm_id = graph_.values[between].producer;
    if (!norm_id.valid() || graph_.nodes[norm_id].op != OpId::batch_norm) return false;
    const Node& norm = graph_.nodes[norm_id];
    if (!IsPlainInTraining(norm) || between != norm.outputs[0] || !AreTogether(norm, sum)) {
      return false;
    }
    if (added == between || TypeOf(added) != TypeOf(between) || !readers_.IsReadBy(between, id))
      return false;
    Node fused = norm;
    fused.op = OpId::batch_norm_add;
    fused.attributes = Clipping(norm, found.bounds);
    fused.name = sum.name;
    fused.inputs.insert(fused.inputs.begin() + 1, added);
    fused.outputs[0] = sum.outputs[0];
    if (!IsFaster(norm, sum, fused)) return false;
    Replace(norm_id, id, std::move(fused));
    keep_value_[between] = false;
    return true;
  }

  void FuseGradient(NodeId id) {
    const Node made = graph_.nodes[id];
    const std::optional<ClipGradient> found = ClipGradientOf(made);
    if (!found) return;
    const auto input = [&](int i) { return made.inputs[static_cast<size_t>(i)]; };
    const NodeId norm_id = GradientOfNorm(made, input(found->result));
    if (!norm_id.valid()) return;
    const Node& norm_grad = graph_.nodes[norm_id];
    Node fused = norm_grad;
    fused.op = OpId::batch_norm_add_grad;
    fused.attributes = Clipping(norm_grad, found->bounds);
    fused.inputs[1] = input(found->parts[0]);
    fused.inputs.push_back(input(found->result));
    if (found->parts.size() == 2) fused.inputs.push_back(input(found->parts[1]));
    fused.outputs.push_back(made.outputs[0]);
    const auto like_x = [&](ValueId i) { return TypeOf(i) == TypeOf(norm_grad.inputs[0]); };
    if (!std::ranges::all_of(made.inputs, like_x) || !IsFaster(norm_grad, made, fused)) return;
    Replace(norm_id, id, std::move(fused));
  }

  // The gradient of a norm that reads what the node makes, and is not alone in that; of several
  // that of the norm that `result` comes from. Invalid where there is none.
  NodeId GradientOfNorm(const Node& made, ValueId result) const {
    const ValueId dy = made.outputs[0];
    if (readers_[dy].size() < 2 && readers_.IsInternal(dy)) return {};
    NodeId best;
    for (const NodeId reader : readers_[dy]) {
      const Node& node = graph_.nodes[reader];
      const bool fits = node.op == OpId::batch_norm_grad && node.inputs[1] == dy &&
                        node.inputs[0] != dy && IsPlainInTraining(node) && AreTogether(node, made);
      if (fits && (!best.valid() || ComesFrom(result, node.inputs[0]))) best = reader;
    }
    return best;
  }

  bool ComesFrom(ValueId result, ValueId x) const {
    const NodeId id = graph_.values[result].producer;
    return id.valid() && graph_.nodes[id].op == OpId::batch_norm_add &&
           graph_.nodes[id].inputs[0] == x;
  }

  static bool AreTogether(const Node& a, const Node& b) {
    return a.phase == b.phase && a.path == b.path;
  }

  bool IsFaster(const Node& a, const Node& b, const Node& fused) const {
    const auto of_a = BestOption(graph_, a, context_), of_b = BestOption(graph_, b, context_);
    const auto together = BestOption(graph_, fused, context_);
    return of_a && of_b && together && together->seconds < of_a->seconds + of_b->seconds;
  }

  // `fused` stands in the place of node `at`; `norm` goes.
  void Replace(NodeId norm, NodeId at, Node fused) {
    keep_node_[norm] = false;
    for (size_t i = 0; i < fused.outputs.size(); ++i) {
      graph_.values[fused.outputs[i]].producer = at;
      graph_.values[fused.outputs[i]].output_index = static_cast<int>(i);
    }
    graph_.nodes[at] = std::move(fused);
    changed_ = true;
  }

  const TensorType& TypeOf(ValueId value) const { return graph_.values[value].type; }

  Graph& graph_;
  const PassContext& context_;
  const GraphReaders readers_;
  IdVector<NodeId, bool> keep_node_;
  IdVector<ValueId, bool> keep_value_;
  bool changed_ = false;
};

}  // namespace

bool AddInBatchNorm(Graph& graph, const PassContext& context) {
  return !context.incremental && Fuser(graph, context).Run();
}

}  // namespace cgrun::passes
