// Algebraic identities are a table of small rules here. The exact rules keep every bit, also of
// infinities and of both zeros. They keep that a number is NaN, but not its bits. A device may add
// in another order if a product reads its operand transposed, and then bits change. The other rules
// are tried only if the model file allows inexact rewrites. No rule makes a node cost more. Entry
// point: SimplifyAlgebra.
#include "src/passes/algebra.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/ir/op_def.h"
#include "src/ops/batch_norm.h"
#include "src/ops/concat.h"
#include "src/ops/dropout.h"
#include "src/ops/infer.h"
#include "src/ops/matmul.h"
#include "src/ops/reduce.h"
#include "src/ops/reshape.h"
#include "src/ops/slice.h"
#include "src/ops/transpose.h"
#include "src/passes/pass.h"
#include "src/passes/rewrite.h"

namespace cgrun::passes {
namespace {

// The node that computes a value, if it is of operator `op`; else null.
const Node* ProducerOf(const Graph& graph, ValueId value, OpId op) {
  const NodeId producer = graph.values[value].producer;
  if (!producer.valid() || graph.nodes[producer].op != op) return nullptr;
  return &graph.nodes[producer];
}

// A constant of one number everywhere; +0 and −0 are two numbers.
bool IsConstant(const Graph& graph, ValueId value, double number) {
  const auto it = graph.constants.find(value);
  if (it == graph.constants.end() || it->second.dtype() == DType::kF16) return false;
  for (int64_t i = 0; i < it->second.elements(); ++i) {
    const double element = it->second.At(i);
    if (element != number || std::signbit(element) != std::signbit(number)) return false;
  }
  return true;
}

bool IsZero(const Graph& graph, ValueId value) {
  return IsConstant(graph, value, 0.0) || IsConstant(graph, value, -0.0);
}

// The readers of the node's first output read `value` instead, if it has the same type.
bool Forward(Rewriter& rewriter, const Node& node, ValueId value) {
  const Graph& graph = rewriter.graph();
  if (graph.values[value].type != graph.values[node.outputs[0]].type) return false;
  rewriter.ReplaceUses(node.outputs[0], value);
  return true;
}

// operand `neutral` of the node is the constant `number`: the result is the other one.
bool ForwardBeside(Rewriter& rewriter, const Node& node, size_t neutral, double number) {
  return IsConstant(rewriter.graph(), node.inputs[neutral], number) &&
         Forward(rewriter, node, node.inputs[1 - neutral]);
}

bool AddNegativeZero(Rewriter& rewriter, const Node& node) {
  return ForwardBeside(rewriter, node, 1, -0.0) || ForwardBeside(rewriter, node, 0, -0.0);
}

bool AddPositiveZero(Rewriter& rewriter, const Node& node) {
  return ForwardBeside(rewriter, node, 1, 0.0) || ForwardBeside(rewriter, node, 0, 0.0);
}

bool SubtractPositiveZero(Rewriter& rewriter, const Node& node) {
  return ForwardBeside(rewriter, node, 1, 0.0);
}

bool SubtractNegativeZero(Rewriter& rewriter, const Node& node) {
  return ForwardBeside(rewriter, node, 1, -0.0);
}

bool MultiplyByOne(Rewriter& rewriter, const Node& node) {
  return ForwardBeside(rewriter, node, 1, 1.0) || ForwardBeside(rewriter, node, 0, 1.0);
}

bool DivideByOne(Rewriter& rewriter, const Node& node) {
  return ForwardBeside(rewriter, node, 1, 1.0);
}

// +0 everywhere, of the type of the node's output: one number, repeated where there are several.
bool ForwardZero(Rewriter& rewriter, const Node& node) {
  const Graph& graph = rewriter.graph();
  const ValueId output = node.outputs[0];
  const TensorType type = graph.values[output].type;
  const std::string name = graph.values[output].name + ".zero";
  Shape one(std::vector<Dim>(static_cast<size_t>(type.shape.rank()), Dim(1)));
  ValueId zero = rewriter.AddConstant(HostTensor(type.dtype, one), name, node.mark);
  if (type.shape != one) {
    const Value& replaced = graph.values[output];
    const Builder::NodeOptions options{node.phase, node.path, node.mark, replaced.role,
                                       replaced.zone};
    zero = rewriter.AddNode(OpId::broadcast, Attributes::Of(BroadcastAttributes{type.shape, false}),
                            {zero}, name, options)[0];
  }
  rewriter.ReplaceUses(output, zero);
  return true;
}

bool MultiplyByZero(Rewriter& rewriter, const Node& node) {
  const Graph& graph = rewriter.graph();
  return (IsZero(graph, node.inputs[0]) || IsZero(graph, node.inputs[1])) &&
         ForwardZero(rewriter, node);
}

bool DivideZero(Rewriter& rewriter, const Node& node) {
  return IsZero(rewriter.graph(), node.inputs[0]) && ForwardZero(rewriter, node);
}

bool NegateTwice(Rewriter& rewriter, const Node& node) {
  const Node* inner = ProducerOf(rewriter.graph(), node.inputs[0], OpId::neg);
  return inner != nullptr && Forward(rewriter, node, inner->inputs[0]);
}

bool ForwardInput(Rewriter& rewriter, const Node& node) {
  return Forward(rewriter, node, node.inputs[0]);
}

// The node itself, to be changed where it stands.
NodeId IdOf(const Rewriter& rewriter, const Node& node) {
  return rewriter.graph().values[node.outputs[0]].producer;
}

// A view of a view becomes one reshape.
bool ReshapeOfReshape(Rewriter& rewriter, const Node& node) {
  const Graph& graph = rewriter.graph();
  const Node* inner = ProducerOf(graph, node.inputs[0], OpId::reshape);
  if (inner == nullptr) inner = ProducerOf(graph, node.inputs[0], OpId::flatten);
  if (inner == nullptr) return false;
  const NodeId id = IdOf(rewriter, node);
  const Shape& shape = graph.values[node.outputs[0]].type.shape;
  rewriter.SetOperator(id, OpId::reshape, Attributes::Of(ReshapeAttributes{shape}));
  rewriter.SetInput(id, 0, inner->inputs[0]);
  return true;
}

bool DropoutOutsideTraining(Rewriter& rewriter, const Node& node) {
  return !node.attributes.As<DropoutAttributes>().training && ForwardInput(rewriter, node);
}

std::vector<int> PermutationOf(const Graph& graph, const Node& transpose) {
  return NormalizePermutation(transpose.attributes.As<TransposeAttributes>().perm,
                              graph.values[transpose.inputs[0]].type.shape.rank());
}

bool TransposeNothing(Rewriter& rewriter, const Node& node) {
  const std::vector<int> perm = PermutationOf(rewriter.graph(), node);
  return std::is_sorted(perm.begin(), perm.end()) && ForwardInput(rewriter, node);
}

bool TransposeOfTranspose(Rewriter& rewriter, const Node& node) {
  const Graph& graph = rewriter.graph();
  const Node* inner = ProducerOf(graph, node.inputs[0], OpId::transpose);
  if (inner == nullptr) return false;
  const std::vector<int> first = PermutationOf(graph, *inner);
  TransposeAttributes both;
  for (int axis : PermutationOf(graph, node)) {
    both.perm.push_back(first[static_cast<size_t>(axis)]);
  }
  const NodeId id = IdOf(rewriter, node);
  rewriter.SetOperator(id, node.op, Attributes::Of(std::move(both)));
  rewriter.SetInput(id, 0, inner->inputs[0]);
  return true;
}

// The last two axes are exchanged and the others stay.
bool ExchangesLastAxes(std::vector<int> perm) {
  if (perm.size() < 2) return false;
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return std::is_sorted(perm.begin(), perm.end());
}

// Batches of `a` that share one matrix `b` are rows of one product, which a transposed `a` would
// part into a small product for each batch, with other bits.
bool SharesMatrix(const Graph& graph, const Node& matmul) {
  const auto rank = [&](size_t i) { return graph.values[matmul.inputs[i]].type.shape.rank(); };
  return rank(0) > 2 && rank(1) == 2;
}

bool TransposeIntoMatmul(Rewriter& rewriter, const Node& node) {
  const Graph& graph = rewriter.graph();
  auto attributes = node.attributes.As<MatmulAttributes>();
  bool* const flags[] = {&attributes.transpose_a, &attributes.transpose_b};
  for (size_t i : {0, 1}) {
    const Node* transpose = ProducerOf(graph, node.inputs[i], OpId::transpose);
    if (transpose == nullptr || !ExchangesLastAxes(PermutationOf(graph, *transpose))) continue;
    if (i == 0 && SharesMatrix(graph, node)) continue;
    *flags[i] = !*flags[i];
    const NodeId id = IdOf(rewriter, node);
    rewriter.SetOperator(id, node.op, Attributes::Of(attributes));
    rewriter.SetInput(id, i, transpose->inputs[0]);
    return true;
  }
  return false;
}

// Values side by side along an axis of `shape`, from `begin` to before `end`, as the gradients of
// slices stand in zeros.
struct Parts {
  int axis = 0;
  int64_t begin = 0, end = 0;
  Shape shape;
  std::vector<ValueId> values;
};

bool HasOneReader(const Rewriter& rewriter, ValueId value) {
  return rewriter.Operands(value) == 1 && rewriter.IsInternal(value);
}

// Returns the values that have been joined already, if nothing else reads the result.
std::vector<ValueId> Joined(const Rewriter& rewriter, ValueId value, int axis) {
  const Graph& graph = rewriter.graph();
  const Node* sum = ProducerOf(graph, value, OpId::add);
  if (sum == nullptr || !HasOneReader(rewriter, value) || !IsConstant(graph, sum->inputs[1], 0.0)) {
    return {value};
  }
  const Node* concat = ProducerOf(graph, sum->inputs[0], OpId::concat);
  if (concat == nullptr || graph.values[sum->inputs[0]].type != graph.values[value].type ||
      concat->attributes.As<ConcatAttributes>().axis != axis ||
      !HasOneReader(rewriter, sum->inputs[0])) {
    return {value};
  }
  return concat->inputs;
}

// Returns nothing where the value is no gradient of a slice along one axis, or others read it, too.
std::optional<Parts> PartsOf(const Rewriter& rewriter, ValueId value) {
  const Graph& graph = rewriter.graph();
  const Node* grad = ProducerOf(graph, value, OpId::slice_grad);
  if (grad == nullptr || !HasOneReader(rewriter, value)) return std::nullopt;
  const auto& a = grad->attributes.As<SliceGradAttributes>();
  std::string message;
  const auto ranges = SliceRanges({a.axes, a.starts, a.ends, a.steps}, a.shape, &message);
  if (!ranges) return std::nullopt;
  std::optional<Parts> parts;
  for (int axis = 0; axis < a.shape.rank(); ++axis) {
    const SliceRange& range = (*ranges)[static_cast<size_t>(axis)];
    if (range.count == a.shape[axis]) continue;
    if (parts || range.step != 1) return std::nullopt;
    parts = {axis, range.start, range.start + range.count.size, a.shape,
             Joined(rewriter, grad->inputs[0], axis)};
  }
  return parts;
}

// Two parts that touch, each in zeros: in each place one is added to +0. A cell that is unrolled
// has its gates in one tensor, of which it takes a slice each.
bool SumOfParts(Rewriter& rewriter, const Node& node) {
  const Graph& graph = rewriter.graph();
  auto first = PartsOf(rewriter, node.inputs[0]), second = PartsOf(rewriter, node.inputs[1]);
  if (!first || !second || first->axis != second->axis || first->shape != second->shape) {
    return false;
  }
  if (first->begin > second->begin) std::swap(first, second);
  if (first->end != second->begin) return false;
  std::vector<ValueId> values = first->values;
  values.insert(values.end(), second->values.begin(), second->values.end());
  const ValueId output = node.outputs[0];
  const TensorType type = graph.values[output].type;
  const std::string name = graph.values[output].name;
  const Builder::NodeOptions options{node.phase, node.path, node.mark, graph.values[output].role,
                                     graph.values[output].zone};
  const Shape one(std::vector<Dim>(static_cast<size_t>(type.shape.rank()), Dim(1)));
  const ValueId zero = rewriter.AddConstant(HostTensor(type.dtype, one), name + ".zero", node.mark);
  const ValueId joined =
      rewriter.AddNode(OpId::concat, Attributes::Of(ConcatAttributes{first->axis}), values,
                       name + ".parts", options)[0];
  const NodeId id = IdOf(rewriter, node);
  if (graph.values[joined].type == type) {
    rewriter.SetInputs(id, {joined, zero});
    return true;
  }
  const ValueId sum =
      rewriter.AddNode(OpId::add, Attributes(), {joined, zero}, name + ".joined", options)[0];
  const SliceGradAttributes attributes{
      {first->axis}, {first->begin}, {second->end}, {}, first->shape};
  rewriter.SetOperator(id, OpId::slice_grad, Attributes::Of(attributes));
  rewriter.SetInputs(id, {sum});
  return true;
}

// One operand is repeated to the shape that the operator would repeat it to by itself.
bool RepeatBeforeBroadcast(Rewriter& rewriter, const Node& node) {
  const Graph& graph = rewriter.graph();
  for (size_t i : {0, 1}) {
    const Node* repeat = ProducerOf(graph, node.inputs[i], OpId::broadcast);
    if (repeat == nullptr || repeat->attributes.As<BroadcastAttributes>().average) continue;
    const ValueId once = repeat->inputs[0];
    const auto shape =
        BroadcastShapes(graph.values[once].type.shape, graph.values[node.inputs[1 - i]].type.shape);
    if (!shape || *shape != graph.values[node.outputs[0]].type.shape) continue;
    rewriter.SetInput(IdOf(rewriter, node), i, once);
    return true;
  }
  return false;
}

// Removes the gradient of a bias under a batch_norm that normalises by the batch. The bias moves x
// and the mean alike, so that y does not depend on it. Therefore the gradient that batch_norm_grad
// gives adds up to 0 over each channel but for rounding. Only this sum is removed. The bias is
// still added in the forward pass, since the running mean holds it. So a checkpoint, an export and
// an evaluation mean the same with this rule and without. The optimizer goes on with a gradient of
// 0, by which the bias decays as before. Its state stays in checkpoints. (adam makes steps of the
// learning rate even of noise, which running means then follow late. With a gradient of 0 it makes
// no step.)
bool SumBehindBatchNorm(Rewriter& rewriter, const Node& node) {
  const Graph& graph = rewriter.graph();
  const Node* cast = ProducerOf(graph, node.inputs[0], OpId::cast);
  const ValueId dx = cast == nullptr ? node.inputs[0] : cast->inputs[0];
  const Node* norm = ProducerOf(graph, dx, OpId::batch_norm_grad);
  if (norm == nullptr || norm->outputs[0] != dx) return false;
  if (!norm->attributes.As<BatchNormAttributes>().training) return false;
  const int rank = graph.values[dx].type.shape.rank();
  const auto axes = NormalizeAxes(node.attributes.As<ReduceAttributes>().axes, rank);
  const int without_channels = rank - 1;
  return axes &&
         std::ranges::count_if(*axes, [](int axis) { return axis != 1; }) == without_channels &&
         ForwardZero(rewriter, node);
}

constexpr AlgebraRule kRules[] = {
    {OpId::identity, "identity(x) = x", true, ForwardInput, "a copy that nothing asked for"},
    {OpId::add, "x + (-0) = x", true, AddNegativeZero,
     "-0 is the neutral element of IEEE addition"},
    {OpId::add, "x + (+0) = x", false, AddPositiveZero,
     "turns the result for x = -0 from +0 to -0"},
    {OpId::add, "slice_grad(x) + slice_grad(y) = concat(x, y) + (+0)", true, SumOfParts,
     "where the parts touch, each stands in the zeros of the other"},
    {OpId::sub, "x - (+0) = x", true, SubtractPositiveZero, "the same as adding -0"},
    {OpId::sub, "x - (-0) = x", false, SubtractNegativeZero, "the same as adding +0"},
    {OpId::mul, "x * 1 = x", true, MultiplyByOne, "1 is neutral, signs and infinities included"},
    {OpId::mul, "x * 0 = 0", false, MultiplyByZero, "wrong for NaN, infinity and negative x"},
    {OpId::div, "x / 1 = x", true, DivideByOne, "1 is neutral, signs and infinities included"},
    {OpId::div, "0 / x = 0", false, DivideZero, "wrong for NaN, zero and negative x"},
    {OpId::neg, "-(-x) = x", true, NegateTwice, "the sign is flipped twice"},
    {OpId::reshape, "reshape(x) = x", true, ForwardInput, "where the shape is x's own"},
    {OpId::reshape, "reshape(reshape(x)) = reshape(x)", true, ReshapeOfReshape,
     "the order of the elements stays"},
    {OpId::flatten, "flatten(x) = x", true, ForwardInput, "where x is a matrix already"},
    {OpId::flatten, "flatten(reshape(x)) = reshape(x)", true, ReshapeOfReshape,
     "the order of the elements stays"},
    {OpId::cast, "cast(x) = x", true, ForwardInput, "where x has the type already"},
    {OpId::reduce_sum, "sum(batch_norm_grad(x)) = 0", false, SumBehindBatchNorm,
     "over each channel; the sum is rounding noise"},
    {OpId::dropout, "dropout(x) = x", true, DropoutOutsideTraining, "outside training"},
    {OpId::transpose, "transpose(x) = x", true, TransposeNothing, "where every axis stays"},
    {OpId::transpose, "transpose(transpose(x)) = transpose(x)", true, TransposeOfTranspose,
     "a permutation of a permutation is one"},
    {OpId::matmul, "matmul(transpose(a), b) = matmul(a, b)", true, TransposeIntoMatmul,
     "matmul reads either order; the products that are added are the same"},
    {OpId::add, "repeat(x) + y = x + y", true, RepeatBeforeBroadcast, "add repeats by itself"},
    {OpId::sub, "repeat(x) - y = x - y", true, RepeatBeforeBroadcast, "sub repeats by itself"},
    {OpId::mul, "repeat(x) * y = x * y", true, RepeatBeforeBroadcast, "mul repeats by itself"},
    {OpId::div, "repeat(x) / y = x / y", true, RepeatBeforeBroadcast, "div repeats by itself"},
    {OpId::pow, "pow(repeat(x), y) = pow(x, y)", true, RepeatBeforeBroadcast,
     "pow repeats by itself"},
    {OpId::min, "min(repeat(x), y) = min(x, y)", true, RepeatBeforeBroadcast,
     "min repeats by itself"},
    {OpId::max, "max(repeat(x), y) = max(x, y)", true, RepeatBeforeBroadcast,
     "max repeats by itself"},
    {OpId::compare, "compare(repeat(x), y) = compare(x, y)", true, RepeatBeforeBroadcast,
     "compare repeats by itself"},
};

// Nodes that nothing reads are left to dead code elimination.
bool ApplyFirst(std::span<const AlgebraRule> rules, bool inexact, Rewriter& rewriter, NodeId id) {
  const Node& found = rewriter.graph().nodes[id];
  const bool has_rule =
      std::ranges::any_of(rules, [&](const AlgebraRule& rule) { return rule.op == found.op; });
  if (!has_rule || !rewriter.IsRead(found.outputs[0])) return false;
  const Node node = found;  // rules add nodes
  return std::ranges::any_of(rules, [&](const AlgebraRule& rule) {
    return rule.op == node.op && (rule.exact || inexact) && rule.apply(rewriter, node);
  });
}

}  // namespace

std::span<const AlgebraRule> AlgebraRules() { return kRules; }

bool ApplyRules(std::span<const AlgebraRule> rules, bool inexact, Graph& graph) {
  bool changed = false;
  const NodeId first(static_cast<int>(graph.nodes.size()));  // of those that rules make
  Rewriter rewriter(graph);
  for (NodeId id : TopologicalOrder(graph)) changed |= ApplyFirst(rules, inexact, rewriter, id);
  if (changed) MoveBehindInputs(graph, first);
  return changed;
}

bool SimplifyAlgebra(Graph& graph, const PassContext& context) {
  return ApplyRules(kRules, context.inexact, graph);
}

}  // namespace cgrun::passes
