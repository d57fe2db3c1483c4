// A relu or clip behind a batch_norm becomes a part of it, and their gradients one node: each
// element is read and written once for the two.
//
//   y = relu(batch_norm(x, …))                    →  y = batch_norm(x, …) min=0
//   dx = batch_norm_grad(x, relu_grad(y, dy), …)  →  dx = batch_norm_grad(x, dy, …, shift) min=0
//
// The gradient sees from x what was clipped; it reads y no more. No bit changes.
#include <algorithm>
#include <optional>

#include "src/ops/batch_norm.h"
#include "src/ops/clip.h"
#include "src/passes/clip_in_norm.h"
#include "src/passes/pass.h"
#include "src/passes/rewrite.h"

namespace cgrun::passes {
namespace {

class Fuser {
 public:
  Fuser(Graph& graph, const PassContext& context)
      : graph_(graph),
        context_(context),
        readers_(graph),
        keep_node_(graph.nodes.size(), true),
        keep_value_(graph.values.size(), true) {}

  bool Run() {
    for (NodeId id : graph_.nodes.ids()) Fuse(id);
    if (changed_) Compact(graph_, keep_node_, keep_value_);
    return changed_;
  }

 private:
  void Fuse(NodeId clip_id) {
    const OpId op = graph_.nodes[clip_id].op;
    if (op != OpId::relu && op != OpId::clip) return;
    const Node clip = graph_.nodes[clip_id];
    const std::optional<ClipAttributes> bounds =
        ClipBoundsOf(clip.op, clip.attributes, OpId::relu, OpId::clip);
    if (!bounds || !readers_.IsReadBy(clip.inputs[0], clip_id)) return;
    const NodeId norm_id = graph_.values[clip.inputs[0]].producer;
    if (!norm_id.valid() || graph_.nodes[norm_id].op != OpId::batch_norm) return;
    const Node norm = graph_.nodes[norm_id];
    if (norm.attributes.As<BatchNormAttributes>().clips()) return;
    if (clip.inputs[0] != norm.outputs[0] || norm.phase != clip.phase || norm.path != clip.path) {
      return;
    }
    Node fused = norm;
    fused.attributes = Clipping(norm, *bounds);
    fused.name = clip.name;
    fused.outputs[0] = clip.outputs[0];
    if (!BestOption(graph_, fused, context_)) return;
    Drop(clip_id, norm.outputs[0]);
    graph_.nodes[norm_id] = fused;
    graph_.values[clip.outputs[0]].producer = norm_id;
    for (NodeId reader : readers_[clip.outputs[0]]) FuseGradient(norm, fused, reader);
  }

  void FuseGradient(const Node& norm, const Node& fused, NodeId clip_grad_id) {
    const Node clip_grad = graph_.nodes[clip_grad_id];
    const std::optional<ClipAttributes> bounds =
        ClipBoundsOf(clip_grad.op, clip_grad.attributes, OpId::relu_grad, OpId::clip_grad);
    if (!bounds || clip_grad.inputs[0] != fused.outputs[0]) return;
    const ValueId between = clip_grad.outputs[0];
    if (readers_[between].size() != 1 || !readers_.IsInternal(between)) return;
    Node& norm_grad = graph_.nodes[readers_[between][0]];
    if (!IsGradientOf(norm, norm_grad, between)) return;
    Node fused_grad = norm_grad;
    fused_grad.attributes = fused.attributes;
    fused_grad.inputs[1] = clip_grad.inputs[1];
    fused_grad.inputs.push_back(norm.inputs[2]);
    if (!BestOption(graph_, fused_grad, context_)) return;
    norm_grad = fused_grad;
    Drop(clip_grad_id, between);
  }

  static bool IsGradientOf(const Node& norm, const Node& grad, ValueId dy) {
    return grad.op == OpId::batch_norm_grad && grad.inputs[1] == dy &&
           grad.inputs[0] == norm.inputs[0] && grad.inputs[2] == norm.inputs[1] &&
           grad.attributes == norm.attributes;
  }

  void Drop(NodeId node, ValueId value) {
    keep_node_[node] = keep_value_[value] = false;
    changed_ = true;
  }

  Graph& graph_;
  const PassContext& context_;
  const GraphReaders readers_;
  IdVector<NodeId, bool> keep_node_;
  IdVector<ValueId, bool> keep_value_;
  bool changed_ = false;
};

}  // namespace

bool ClipInBatchNorm(Graph& graph, const PassContext& context) {
  const bool has_norm = std::ranges::any_of(
      graph.nodes, [](const Node& node) { return node.op == OpId::batch_norm; });
  return has_norm && Fuser(graph, context).Run();
}

}  // namespace cgrun::passes
