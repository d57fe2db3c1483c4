#include "src/passes/fusion.h"

#include <algorithm>
#include <numeric>

#include "src/ir/op_def.h"

namespace cgrun {
namespace {

// Returns the operators of a node, in terms of its inputs. A fused node gives its body.
std::vector<FusedOperator> BodyOf(const Node& node) {
  if (node.op == OpId::fused) return node.body;
  std::vector<int> operands(node.inputs.size());
  std::iota(operands.begin(), operands.end(), 0);
  return {{node.op, node.attributes, std::move(operands)}};
}

Node Joined(const Node& producer, const Node& reader) {
  Node fused = reader;
  fused.op = OpId::fused;
  fused.attributes = Attributes();
  fused.inputs = producer.inputs;
  fused.body = BodyOf(producer);
  const int between = -static_cast<int>(fused.body.size());
  std::vector<int> operands;
  for (const ValueId input : reader.inputs) {
    const bool is_between = input == producer.outputs[0];
    operands.push_back(is_between ? between : static_cast<int>(fused.inputs.size()));
    if (!is_between) fused.inputs.push_back(input);
  }
  AppendBody(fused, reader, operands);
  return fused;
}

// Valid until a run has changed the graph.
class FusionRewriter {
 public:
  FusionRewriter(Graph& graph, const PassContext& context)
      : graph_(graph),
        view_{graph, context, GraphReaders(graph), IdVector<NodeId, int>(graph.nodes.size()),
              IdVector<NodeId, bool>(graph.nodes.size(), true)},
        keep_value_(graph.values.size(), true),
        order_(TopologicalOrder(graph)) {
    for (size_t i = 0; i < order_.size(); ++i) view_.place[order_[i]] = static_cast<int>(i);
  }

  bool Run(const FusionPattern& pattern) {
    std::vector<NodeId> order = order_;
    if (pattern.from_the_end) std::ranges::reverse(order);
    bool changed = false;
    for (const NodeId id : order) {
      if (!view_.is_there[id]) continue;
      std::optional<Fusion> fusion = pattern.match(view_, id);
      if (!fusion) continue;
      Apply(*fusion);
      changed = true;
    }
    if (changed) Compact(graph_, view_.is_there, keep_value_);
    return changed;
  }

 private:
  void Apply(Fusion& fusion) {
    for (const NodeId id : fusion.gone) Remove(id);
    for (const auto& [id, node] : fusion.placed) Remove(id);
    for (auto& [id, node] : fusion.placed) {
      view_.is_there[id] = true;
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        keep_value_[node.outputs[i]] = true;
        graph_.values[node.outputs[i]].producer = id;
        graph_.values[node.outputs[i]].output_index = static_cast<int>(i);
      }
      graph_.nodes[id] = std::move(node);
    }
  }

  void Remove(NodeId id) {
    view_.is_there[id] = false;
    for (const ValueId output : graph_.nodes[id].outputs) keep_value_[output] = false;
  }

  Graph& graph_;
  FusionView view_;
  IdVector<ValueId, bool> keep_value_;
  const std::vector<NodeId> order_;
};

}  // namespace

std::optional<KernelOption> FusionView::Best(const Node& node) const {
  return BestOption(graph, node, context);
}

int64_t FusionView::BytesOf(ValueId value) const {
  TensorType bound = type(value);
  bound.shape = bound.shape.Bind(context.batch);
  return ByteSize(bound);
}

bool FusionView::IsFaster(const Node& fused, std::initializer_list<const Node*> apart) const {
  double seconds = 0;
  for (const Node* node : apart) {
    const auto best = Best(*node);
    if (!best) return false;
    seconds += best->seconds;
  }
  const auto together = Best(fused);
  return together && together->seconds < seconds;
}

bool Fuse(Graph& graph, std::span<const FusionPattern> patterns, const PassContext& context) {
  std::optional<FusionRewriter> rewriter;
  bool changed = false;
  for (const FusionPattern& pattern : patterns) {
    if (!rewriter) rewriter.emplace(graph, context);
    if (!rewriter->Run(pattern)) continue;
    changed = true;
    rewriter.reset();
  }
  return changed;
}

void AppendBody(Node& fused, const Node& node, std::span<const int> operands) {
  const int before = static_cast<int>(fused.body.size());
  for (FusedOperator inner : BodyOf(node)) {
    for (int& operand : inner.operands) {
      operand = operand < 0 ? operand - before : operands[static_cast<size_t>(operand)];
    }
    fused.body.push_back(std::move(inner));
  }
}

std::optional<Fusion> MatchPairs(const FusionView& view, NodeId id, const PairFusion& fusion) {
  const Node& producer = view.node(id);
  if (producer.outputs.size() != 1) return std::nullopt;
  const ValueId between = producer.outputs[0];
  const std::span<const NodeId> readers = view.readers[between];
  if (!view.readers.IsInternal(between) || readers.empty()) return std::nullopt;
  if (readers.size() > 1 && !fusion.several) return std::nullopt;
  FusedPairs pairs{producer, {}, {}};
  for (const NodeId reader_id : readers) {
    const Node& reader = view.node(reader_id);
    const auto at = std::ranges::find(reader.inputs, between) - reader.inputs.begin();
    if (!fusion.fits(producer, reader, static_cast<int>(at))) return std::nullopt;
    pairs.readers.push_back(&reader);
    pairs.fused.push_back(Joined(producer, reader));
  }
  if (!fusion.pays(view, pairs)) return std::nullopt;
  Fusion result{{}, {id}};
  for (size_t i = 0; i < readers.size(); ++i) {
    result.placed.emplace_back(readers[i], std::move(pairs.fused[i]));
  }
  return result;
}

bool TakesLess(const FusionView& view, const FusedPairs& pairs) {
  const auto producer = view.Best(pairs.producer);
  if (!producer) return false;
  double apart = producer->seconds, together = 0;
  for (size_t i = 0; i < pairs.readers.size(); ++i) {
    const auto fused = view.Best(pairs.fused[i]);
    const auto reader = view.Best(*pairs.readers[i]);
    if (!fused || !reader) return false;
    const int64_t workspace = std::max(producer->workspace_bytes, reader->workspace_bytes);
    if (fused->workspace_bytes >= workspace + view.BytesOf(pairs.producer.outputs[0])) return false;
    apart += reader->seconds;
    together += fused->seconds;
  }
  return together < apart;
}

}  // namespace cgrun
