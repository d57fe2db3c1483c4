// A relu or clip behind a batch_norm becomes a part of it, and their gradients one node: each
// element is read and written once for the two.
//
//   y = relu(batch_norm(x, …))                    →  y = batch_norm(x, …) min=0
//   dx = batch_norm_grad(x, relu_grad(y, dy), …)  →  dx = batch_norm_grad(x, dy, …, shift) min=0
//
// The gradient sees from x what was clipped; it reads y no more. No bit changes.
#include <optional>
#include <utility>

#include "src/ops/batch_norm.h"
#include "src/ops/clip.h"
#include "src/passes/clip_in_norm.h"
#include "src/passes/fusion.h"
#include "src/passes/pass.h"

namespace cgrun::passes {
namespace {

bool IsGradientOf(const Node& norm, const Node& grad, ValueId dy) {
  return grad.op == OpId::batch_norm_grad && grad.inputs[1] == dy &&
         grad.inputs[0] == norm.inputs[0] && grad.inputs[2] == norm.inputs[1] &&
         grad.attributes == norm.attributes;
}

// Adds the gradients of a norm and its clip, where they are nodes of their own, to the fusion of
// the two.
void AddGradient(const FusionView& view, const Node& norm, const Node& fused, NodeId clip_grad_id,
                 Fusion& fusion) {
  const Node& clip_grad = view.node(clip_grad_id);
  const std::optional<ClipAttributes> bounds =
      ClipBoundsOf(clip_grad.op, clip_grad.attributes, OpId::relu_grad, OpId::clip_grad);
  if (!bounds || clip_grad.inputs[0] != fused.outputs[0]) return;
  const ValueId between = clip_grad.outputs[0];
  const std::span<const NodeId> readers = view.readers[between];
  if (readers.size() != 1 || !view.readers.IsInternal(between)) return;
  Node fused_grad = view.node(readers[0]);
  if (!IsGradientOf(norm, fused_grad, between)) return;
  fused_grad.attributes = fused.attributes;
  fused_grad.inputs[1] = clip_grad.inputs[1];
  fused_grad.inputs.push_back(norm.inputs[2]);
  if (!view.Best(fused_grad)) return;
  fusion.gone.push_back(clip_grad_id);
  fusion.placed.emplace_back(readers[0], std::move(fused_grad));
}

std::optional<Fusion> MatchClip(const FusionView& view, NodeId clip_id) {
  const Node& clip = view.node(clip_id);
  const auto bounds = ClipBoundsOf(clip.op, clip.attributes, OpId::relu, OpId::clip);
  if (!bounds || !view.readers.IsReadBy(clip.inputs[0], clip_id)) return std::nullopt;
  const NodeId norm_id = view.producer(clip.inputs[0]);
  if (!norm_id.valid() || view.node(norm_id).op != OpId::batch_norm) return std::nullopt;
  const Node& norm = view.node(norm_id);
  if (norm.attributes.As<BatchNormAttributes>().clips()) return std::nullopt;
  if (clip.inputs[0] != norm.outputs[0] || !OfOnePlace(norm, clip)) return std::nullopt;
  Node fused = norm;
  fused.attributes = Clipping(norm, *bounds);
  fused.name = clip.name;
  fused.outputs[0] = clip.outputs[0];
  if (!view.Best(fused)) return std::nullopt;
  Fusion fusion{{{norm_id, fused}}, {clip_id}};
  for (const NodeId reader : view.readers[clip.outputs[0]]) {
    AddGradient(view, norm, fused, reader, fusion);
  }
  return fusion;
}

constexpr FusionPattern kClipPatterns[] = {{MatchClip}};

}  // namespace

bool ClipInBatchNorm(Graph& graph, const PassContext& context) {
  return Fuse(graph, kClipPatterns, context);
}

}  // namespace cgrun::passes
