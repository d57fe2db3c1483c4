// Algebraic identities, as a table of small rules. The exact ones keep every bit, of infinities and
// of both zeros too (of a NaN they keep that it is one); the others are tried only where the model
// file allows inexact rewrites. Entry point: SimplifyAlgebra.
#include <algorithm>
#include <cmath>

#include "src/ir/builder.h"
#include "src/ir/op_def.h"
#include "src/ops/infer.h"
#include "src/ops/reduce.h"
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
bool Forward(Graph& graph, const Node& node, ValueId value) {
  if (graph.values[value].type != graph.values[node.outputs[0]].type) return false;
  ReplaceUses(graph, node.outputs[0], value);
  return true;
}

// operand `neutral` of the node is the constant `number`: the result is the other one.
bool ForwardBeside(Graph& graph, const Node& node, size_t neutral, double number) {
  return IsConstant(graph, node.inputs[neutral], number) &&
         Forward(graph, node, node.inputs[1 - neutral]);
}

bool AddNegativeZero(Graph& graph, const Node& node) {
  return ForwardBeside(graph, node, 1, -0.0) || ForwardBeside(graph, node, 0, -0.0);
}

bool AddPositiveZero(Graph& graph, const Node& node) {
  return ForwardBeside(graph, node, 1, 0.0) || ForwardBeside(graph, node, 0, 0.0);
}

bool SubtractPositiveZero(Graph& graph, const Node& node) {
  return ForwardBeside(graph, node, 1, 0.0);
}

bool SubtractNegativeZero(Graph& graph, const Node& node) {
  return ForwardBeside(graph, node, 1, -0.0);
}

bool MultiplyByOne(Graph& graph, const Node& node) {
  return ForwardBeside(graph, node, 1, 1.0) || ForwardBeside(graph, node, 0, 1.0);
}

bool DivideByOne(Graph& graph, const Node& node) { return ForwardBeside(graph, node, 1, 1.0); }

// +0 everywhere, of the type of the node's output: one number, repeated where there are several.
bool ForwardZero(Graph& graph, const Node& node) {
  const ValueId output = node.outputs[0];
  const TensorType type = graph.values[output].type;
  const std::string name = graph.values[output].name + ".zero";
  Builder builder(graph);
  Shape one(std::vector<Dim>(static_cast<size_t>(type.shape.rank()), Dim(1)));
  ValueId zero = builder.AddConstant(HostTensor(type.dtype, one), name, node.mark);
  if (type.shape != one) {
    const Value& replaced = graph.values[output];
    const Builder::NodeOptions options{node.phase, node.path, node.mark, replaced.role,
                                       replaced.zone};
    zero = builder.AddNode(OpId::broadcast, Attributes::Of(BroadcastAttributes{type.shape, false}),
                           {zero}, name, options)[0];
  }
  ReplaceUses(graph, output, zero);
  return true;
}

bool MultiplyByZero(Graph& graph, const Node& node) {
  return (IsZero(graph, node.inputs[0]) || IsZero(graph, node.inputs[1])) &&
         ForwardZero(graph, node);
}

bool DivideZero(Graph& graph, const Node& node) {
  return IsZero(graph, node.inputs[0]) && ForwardZero(graph, node);
}

bool NegateTwice(Graph& graph, const Node& node) {
  const Node* inner = ProducerOf(graph, node.inputs[0], OpId::neg);
  return inner != nullptr && Forward(graph, node, inner->inputs[0]);
}

bool ForwardInput(Graph& graph, const Node& node) { return Forward(graph, node, node.inputs[0]); }

bool ReshapeOfReshape(Graph& graph, const Node& node) {
  const Node* inner = ProducerOf(graph, node.inputs[0], OpId::reshape);
  if (inner == nullptr) return false;
  graph.nodes[graph.values[node.outputs[0]].producer].inputs[0] = inner->inputs[0];
  return true;
}

// One operand is repeated to the shape that the operator would repeat it to by itself.
bool RepeatBeforeBroadcast(Graph& graph, const Node& node) {
  for (size_t i : {0, 1}) {
    const Node* repeat = ProducerOf(graph, node.inputs[i], OpId::broadcast);
    if (repeat == nullptr || repeat->attributes.As<BroadcastAttributes>().average) continue;
    const ValueId once = repeat->inputs[0];
    const auto shape =
        BroadcastShapes(graph.values[once].type.shape, graph.values[node.inputs[1 - i]].type.shape);
    if (!shape || *shape != graph.values[node.outputs[0]].type.shape) continue;
    graph.nodes[graph.values[node.outputs[0]].producer].inputs[i] = once;
    return true;
  }
  return false;
}

struct Rule {
  OpId op;
  std::string_view name;
  bool exact;
  bool (*apply)(Graph&, const Node&);  // rewrites what the node stands for, or says false
  std::string_view reason;
};

constexpr Rule kRules[] = {
    {OpId::identity, "identity(x) = x", true, ForwardInput, "a copy that nothing asked for"},
    {OpId::add, "x + (-0) = x", true, AddNegativeZero,
     "-0 is the neutral element of IEEE addition"},
    {OpId::add, "x + (+0) = x", false, AddPositiveZero,
     "turns the result for x = -0 from +0 to -0"},
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
    {OpId::add, "repeat(x) + y = x + y", true, RepeatBeforeBroadcast, "add repeats by itself"},
    {OpId::sub, "repeat(x) - y = x - y", true, RepeatBeforeBroadcast, "sub repeats by itself"},
    {OpId::mul, "repeat(x) * y = x * y", true, RepeatBeforeBroadcast, "mul repeats by itself"},
    {OpId::div, "repeat(x) / y = x / y", true, RepeatBeforeBroadcast, "div repeats by itself"},
};

// Something reads the node's first output; what is dead is left to dead code.
bool IsUsed(const Graph& graph, const Node& node) {
  const ValueId output = node.outputs[0];
  return !IsInternal(graph, output) ||
         std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& reader) {
           return std::count(reader.inputs.begin(), reader.inputs.end(), output) > 0;
         });
}

bool ApplyFirst(Graph& graph, NodeId id, bool inexact) {
  const Node node = graph.nodes[id];
  const auto applies = [&](const Rule& rule) {
    return rule.op == node.op && (rule.exact || inexact) && rule.apply(graph, node);
  };
  const bool has_rule = std::any_of(std::begin(kRules), std::end(kRules),
                                    [&](const Rule& rule) { return rule.op == node.op; });
  return has_rule && IsUsed(graph, node) &&
         std::any_of(std::begin(kRules), std::end(kRules), applies);
}

}  // namespace

bool SimplifyAlgebra(Graph& graph, const PassContext& context) {
  bool changed = false;
  for (NodeId id : TopologicalOrder(graph)) changed |= ApplyFirst(graph, id, context.inexact);
  return changed;
}

}  // namespace cgrun::passes
