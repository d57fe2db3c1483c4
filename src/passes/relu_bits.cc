// The gradient of relu reads only the signs of relu's result. If nothing else keeps that result for
// the backward pass, a bit for each element is kept in its place.
//
//   y = relu(x)                     y = relu(x)
//   dx = relu_grad(y, dy)     →     bits = relu_bits(y)
//                                   dx = relu_grad_by_bits(bits, dy)
//
// No bit of a result changes. The node that makes y does not matter, as long as it is in the
// forward pass. After relu_before_pool_grad, for example, the gradient reads the result of a pool.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "src/ir/builder.h"
#include "src/ir/op_def.h"
#include "src/passes/pass.h"
#include "src/passes/rewrite.h"

namespace cgrun::passes {
namespace {

constexpr int64_t kLeastBytes = 64 << 10;  // of y: less is not worth a node
constexpr int64_t kLeastRatio = 8;         // of the bytes of y to those of its bits

// Returns the value and all views of the same bytes.
std::vector<ValueId> WithViews(const Graph& graph, const GraphReaders& readers, ValueId value) {
  for (NodeId id = graph.values[value].producer; id.valid() && GetOpDef(graph.nodes[id].op).view;
       id = graph.values[value].producer) {
    value = graph.nodes[id].inputs[0];
  }
  std::vector<ValueId> views = {value};
  for (size_t i = 0; i < views.size(); ++i) {
    for (const NodeId reader : readers[views[i]]) {
      const Node& node = graph.nodes[reader];
      if (GetOpDef(node.op).view && node.inputs[0] == views[i]) views.push_back(node.outputs[0]);
    }
  }
  return views;
}

int64_t BytesOf(const TensorType& type, int64_t batch) {
  return ByteSize({type.dtype, type.shape.Bind(batch)});
}

// Returns whether a node of the forward pass makes something as large of y that is kept: while y
// is, that can be had again.
bool KeepsAsMuch(const Graph& graph, const GraphReaders& readers, const Node& node, ValueId y,
                 int64_t batch) {
  if (GetOpDef(node.op).view) return false;
  return std::ranges::any_of(node.outputs, [&](ValueId output) {
    const Value &made = graph.values[output], &kept = graph.values[y];
    if (BytesOf(made.type, batch) < BytesOf(kept.type, batch)) return false;
    return std::ranges::any_of(WithViews(graph, readers, output), [&](ValueId view) {
      return std::ranges::any_of(readers[view], [&](NodeId reader) {
        return graph.nodes[reader].phase != Phase::kForward;
      });
    });
  });
}

// The gradients of relu that read y, where the bytes of y are kept for them alone; else none.
std::vector<NodeId> GradientsThatKeep(const Graph& graph, const GraphReaders& readers, ValueId y,
                                      int64_t batch) {
  std::vector<NodeId> gradients;
  const std::vector<ValueId> views = WithViews(graph, readers, y);
  if (!graph.values[views[0]].producer.valid()) return {};  // it is there in any case
  for (const ValueId view : views) {
    if (!readers.IsInternal(view)) return {};
    for (const NodeId reader : readers[view]) {
      const Node& node = graph.nodes[reader];
      if (node.phase == Phase::kForward) {
        if (KeepsAsMuch(graph, readers, node, y, batch)) return {};
        continue;
      }
      const bool by_sign = node.op == OpId::relu_grad && node.inputs[0] == y &&
                           std::ranges::find(views, node.inputs[1]) == views.end();
      if (!by_sign) return {};
      gradients.push_back(reader);
    }
  }
  return gradients;
}

bool HasKernel(NodeSignature node, const Graph& graph, const PassContext& context) {
  for (std::vector<TensorType>* types : {&node.inputs, &node.outputs}) {
    for (TensorType& type : *types) type.shape = type.shape.Bind(context.batch);
  }
  return !context.target.Options(node, {context.threads, {}, graph.Learns()}).empty();
}

// Returns whether the bits are so few that they are worth it, and can be made and read.
bool Pays(const Graph& graph, const TensorType& y, const PassContext& context) {
  const Attributes none;
  InferContext infer(none, {y});
  const std::vector<TensorType> bits = InferTypes(OpId::relu_bits, infer);
  if (infer.failed()) return false;
  const int64_t bytes = BytesOf(y, context.batch);
  return bytes >= kLeastBytes && bytes >= kLeastRatio * BytesOf(bits[0], context.batch) &&
         HasKernel({OpId::relu_bits, {}, {y}, bits, {}}, graph, context) &&
         HasKernel({OpId::relu_grad_by_bits, {}, {bits[0], y}, {y}, {}}, graph, context);
}

void Rewrite(Graph& graph, Builder& builder, ValueId y, const std::vector<NodeId>& gradients) {
  const Node& producer = graph.nodes[graph.values[y].producer];
  Builder::NodeOptions options;
  options.phase = producer.phase;
  options.path = producer.path;
  options.mark = graph.nodes[gradients[0]].mark;
  options.output_zone = graph.values[y].zone;
  const ValueId bits =
      builder.AddNode(OpId::relu_bits, {}, {y}, graph.values[y].name + ".bits", options)[0];
  for (const NodeId id : gradients) {
    graph.nodes[id].op = OpId::relu_grad_by_bits;
    graph.nodes[id].inputs[0] = bits;
  }
}

}  // namespace

bool ReluBits(Graph& graph, const PassContext& context) {
  const GraphReaders readers(graph);
  std::vector<std::pair<ValueId, std::vector<NodeId>>> found;
  for (const ValueId y : graph.values.ids()) {
    const NodeId producer = graph.values[y].producer;
    if (!producer.valid() || graph.nodes[producer].phase != Phase::kForward) continue;
    std::vector<NodeId> gradients = GradientsThatKeep(graph, readers, y, context.batch);
    if (gradients.empty() || !Pays(graph, graph.values[y].type, context)) continue;
    found.emplace_back(y, std::move(gradients));
  }
  if (found.empty()) return false;
  const NodeId first(static_cast<int64_t>(graph.nodes.size()));
  Builder builder(graph);
  for (const auto& [y, gradients] : found) Rewrite(graph, builder, y, gradients);
  MoveBehindInputs(graph, first);  // y is then free as soon as it was without its gradients
  return true;
}

}  // namespace cgrun::passes
