// Joins a batch_norm in training with the sum behind it, and with a relu or clip behind that, as at
// the end of a residual block. The norm's own result then never exists. The first sweep of the
// norm's gradient also makes the gradient of the sum, which others read too.
//
//   n = batch_norm(x, …)
//   y = fused(n, skip) {add, relu}       →  y = batch_norm_add(x, skip, …) min=0
//
//   ds = fused(a, b, y) {add, relu_grad}
//   dx = batch_norm_grad(x, ds, …)       →  dx, ds = batch_norm_add_grad(x, a, …, y, b) min=0
//
// No bit changes. Longer chains stay as they are, because the rest of one would go through memory
// once more. If programs can run in part, nothing is joined, as in fuse_elementwise.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "src/ops/batch_norm.h"
#include "src/ops/clip.h"
#include "src/passes/clip_in_norm.h"
#include "src/passes/fusion.h"
#include "src/passes/pass.h"

namespace cgrun::passes {
namespace {

// An addition of two tensors stands before a clip; these are operands of the node.
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
  if (!bounds) return std::nullopt;
  const bool of_sum = body[1].operands[0] >= 0 && body[1].operands[1] < 0;
  if (!of_sum) return std::nullopt;
  return ClipGradient{body[0].operands, body[1].operands[0], *bounds};
}

bool IsPlainInTraining(const Node& batch_norm) {
  const auto& attributes = batch_norm.attributes.As<BatchNormAttributes>();
  return attributes.training && !attributes.clips();
}

// Fuses the node with the norm that makes its input `of_norm`. The result takes the node's place,
// behind what is added.
std::optional<Fusion> FuseSum(const FusionView& view, NodeId id, const ClippedSum& found,
                              int of_norm, int addend) {
  const Node& sum = view.node(id);
  const ValueId between = sum.inputs[static_cast<size_t>(of_norm)];
  const ValueId added = sum.inputs[static_cast<size_t>(addend)];
  const NodeId norm_id = view.producer(between);
  if (!norm_id.valid() || view.node(norm_id).op != OpId::batch_norm) return std::nullopt;
  const Node& norm = view.node(norm_id);
  if (!IsPlainInTraining(norm) || between != norm.outputs[0] || !OfOnePlace(norm, sum)) {
    return std::nullopt;
  }
  if (added == between || view.type(added) != view.type(between) ||
      !view.readers.IsReadBy(between, id)) {
    return std::nullopt;
  }
  Node fused = norm;
  fused.op = OpId::batch_norm_add;
  fused.attributes = Clipping(norm, found.bounds);
  fused.name = sum.name;
  fused.inputs.insert(fused.inputs.begin() + 1, added);
  fused.outputs[0] = sum.outputs[0];
  if (!view.IsFaster(fused, {&norm, &sum})) return std::nullopt;
  return Fusion{{{id, std::move(fused)}}, {norm_id}};
}

std::optional<Fusion> MatchSum(const FusionView& view, NodeId id) {
  const std::optional<ClippedSum> found = ClippedSumOf(view.node(id));
  if (!found) return std::nullopt;
  std::optional<Fusion> fusion = FuseSum(view, id, *found, found->first, found->second);
  return fusion ? fusion : FuseSum(view, id, *found, found->second, found->first);
}

bool ComesFrom(const FusionView& view, ValueId result, ValueId x) {
  const NodeId id = view.producer(result);
  return id.valid() && view.node(id).op == OpId::batch_norm_add && view.node(id).inputs[0] == x;
}

// The gradient of a norm that reads what the node makes, and is not alone in that; of several that
// of the norm that `result` comes from. The result is invalid where there is none.
NodeId GradientOfNorm(const FusionView& view, const Node& made, ValueId result) {
  const ValueId dy = made.outputs[0];
  if (view.readers[dy].size() < 2 && view.readers.IsInternal(dy)) return {};
  NodeId best;
  for (const NodeId reader : view.readers[dy]) {
    const Node& node = view.node(reader);
    const bool fits = node.op == OpId::batch_norm_grad && node.inputs[1] == dy &&
                      node.inputs[0] != dy && IsPlainInTraining(node) && OfOnePlace(node, made);
    if (fits && (!best.valid() || ComesFrom(view, result, node.inputs[0]))) best = reader;
  }
  return best;
}

std::optional<Fusion> MatchGradient(const FusionView& view, NodeId id) {
  const Node& made = view.node(id);
  const std::optional<ClipGradient> found = ClipGradientOf(made);
  if (!found) return std::nullopt;
  const auto input = [&](int i) { return made.inputs[static_cast<size_t>(i)]; };
  const NodeId norm_id = GradientOfNorm(view, made, input(found->result));
  if (!norm_id.valid()) return std::nullopt;
  const Node& norm_grad = view.node(norm_id);
  const auto like_x = [&](ValueId i) { return view.type(i) == view.type(norm_grad.inputs[0]); };
  if (!std::ranges::all_of(made.inputs, like_x)) return std::nullopt;
  Node fused = norm_grad;
  fused.op = OpId::batch_norm_add_grad;
  fused.attributes = Clipping(norm_grad, found->bounds);
  fused.inputs[1] = input(found->parts[0]);
  fused.inputs.push_back(input(found->result));
  if (found->parts.size() == 2) fused.inputs.push_back(input(found->parts[1]));
  fused.outputs.push_back(made.outputs[0]);
  if (!view.IsFaster(fused, {&norm_grad, &made})) return std::nullopt;
  return Fusion{{{id, std::move(fused)}}, {norm_id}};
}

constexpr FusionPattern kAddPatterns[] = {{MatchSum}, {MatchGradient}};

}  // namespace

bool AddInBatchNorm(Graph& graph, const PassContext& context) {
  return !context.incremental && Fuse(graph, kAddPatterns, context);
}

}  // namespace cgrun::passes
