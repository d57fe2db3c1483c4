// The order, then one walk that finds tensors and one that counts references.
#include "src/eager/tape.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "src/base/check.h"
#include "src/ir/op_def.h"

namespace cgrun {
namespace {

class TapeMaker {
 public:
  TapeMaker(const Graph& graph, const std::vector<ValueId>& keep) : graph_(graph), keep_(keep) {
    tape_.tensor_of.resize(graph.values.size());
  }

  Tape Run() {
    const std::vector<NodeId> order = ProgramOrder(graph_);
    FindNeeded(order);
    AddSources();
    for (NodeId id : order) {
      if (needed_[id]) AddCall(id);
    }
    AddHolds();
    AddUpdates();
    return std::move(tape_);
  }

 private:
  // Marks all nodes but the backward operators whose results nobody wants.
  void FindNeeded(const std::vector<NodeId>& order) {
    needed_.resize(graph_.nodes.size());
    IdVector<ValueId, bool> wanted(graph_.values.size());
    for (const Output& output : graph_.outputs) wanted[output.value] = true;
    for (const UpdateEdge& edge : graph_.updates) wanted[edge.next] = true;
    for (ValueId value : keep_) wanted[value] = true;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const Node& node = graph_.nodes[*it];
      needed_[*it] = node.phase != Phase::kBackward || GetOpDef(node.op).has_effect ||
                     std::any_of(node.outputs.begin(), node.outputs.end(),
                                 [&](ValueId output) { return wanted[output]; });
      if (!needed_[*it]) continue;
      for (ValueId input : node.inputs) wanted[input] = true;
    }
  }

  TensorId AddTensor(ValueId value) {
    TapeTensor tensor;
    tensor.value = value;
    tensor.bytes = graph_.BytesOf(value);
    return tape_.tensor_of[value] = tape_.tensors.push_back(tensor);
  }

  void AddSources() {
    for (ValueId id : graph_.values.ids()) {
      const Value& value = graph_.values[id];
      if (value.producer.valid()) continue;
      TapeTensor& tensor = tape_.tensors[AddTensor(id)];
      tensor.of_model = value.role != Role::kPlaceholder;
      tensor.references = tensor.of_model ? 1 : 0;
    }
    for (const UpdateEdge& edge : graph_.updates) TensorOf(edge.state).changes = true;
  }

  void AddCall(NodeId id) {
    const Node& node = graph_.nodes[id];
    TapeCall call;
    call.node = id;
    call.view = IsView(node);
    for (ValueId input : node.inputs) {
      call.inputs.push_back(tape_.tensor_of[input]);
      ++TensorOf(input).references;
    }
    for (ValueId output : node.outputs) {
      if (call.view) tape_.tensor_of[output] = call.inputs[0];
      call.outputs.push_back(call.view ? call.inputs[0] : AddTensor(output));
    }
    call.in_place = InPlace(node);
    tape_.calls.push_back(std::move(call));
  }

  // Returns whether a node costs nothing in PyTorch, since it returns the same memory.
  bool IsView(const Node& node) const {
    const Value& from = graph_.values[node.inputs[0]];
    const Value& to = graph_.values[node.outputs[0]];
    if (from.layout != to.layout) return false;
    const OpDef& def = GetOpDef(node.op);
    const bool is_idle =
        def.moves == Moves::kInOrder || (def.idle != nullptr && def.idle(node.attributes));
    return def.view || (from.type == to.type && is_idle);
  }

  // Returns the pairs that PyTorch's eager mode computes in place. Optimizers change what they
  // update, and batch_norm its running statistics. A gradient of several parts is added up in the
  // first part's memory.
  std::vector<InPlacePair> InPlace(const Node& node) const {
    CGRUN_CHECK(node.kernel.has_value()) << node.name << " has no kernel";
    const std::vector<InPlacePair> updates = UpdatesOf(node);
    std::vector<InPlacePair> pairs;
    for (const InPlacePair& pair : node.kernel->in_place) {
      if (static_cast<size_t>(pair.input) >= node.inputs.size()) continue;
      if (static_cast<size_t>(pair.output) >= node.outputs.size()) continue;
      const bool update = std::find(updates.begin(), updates.end(), pair) != updates.end();
      if (!update && !AddsUpGradients(node, pair)) continue;
      const ValueId input = node.inputs[static_cast<size_t>(pair.input)];
      const ValueId output = node.outputs[static_cast<size_t>(pair.output)];
      if (graph_.BytesOf(input) == graph_.BytesOf(output)) pairs.push_back(pair);
    }
    return pairs;
  }

  // A gradient may be a view of a parameter, which is not to be written over.
  bool AddsUpGradients(const Node& node, const InPlacePair& pair) const {
    const ValueId input = node.inputs[static_cast<size_t>(pair.input)];
    return node.op == OpId::add && node.phase == Phase::kBackward &&
           graph_.values[node.outputs[0]].role == Role::kGradient &&
           graph_.values[input].role == Role::kGradient &&
           !tape_.tensors[tape_.tensor_of[input]].of_model;
  }

  void AddHolds() {
    std::vector<ValueId> held = keep_;
    for (const Output& output : graph_.outputs) held.push_back(output.value);
    for (ValueId value : held) {
      ++TensorOf(value).references;
      tape_.held.push_back(tape_.tensor_of[value]);
    }
  }

  void AddUpdates() {
    IdVector<TensorId, int> takers(tape_.tensors.size());
    for (TensorId id : tape_.held) ++takers[id];
    for (const UpdateEdge& edge : graph_.updates) {
      ++TensorOf(edge.next).references;
      ++takers[tape_.tensor_of[edge.next]];
    }
    for (const UpdateEdge& edge : graph_.updates) {
      const TensorId next = tape_.tensor_of[edge.next];
      const bool shared = takers[next] > 1 || tape_.tensors[next].of_model;
      tape_.updates.push_back({tape_.tensor_of[edge.state], next, shared});
    }
  }

  TapeTensor& TensorOf(ValueId value) {
    CGRUN_CHECK(tape_.tensor_of[value].valid()) << graph_.values[value].name << " has no tensor";
    return tape_.tensors[tape_.tensor_of[value]];
  }

  const Graph& graph_;
  const std::vector<ValueId>& keep_;
  IdVector<NodeId, bool> needed_;
  Tape tape_;
};

}  // namespace

std::vector<NodeId> ProgramOrder(const Graph& graph) {
  const ReaderLists readers = Readers(graph);
  IdVector<NodeId, int> missing(graph.nodes.size());
  for (ValueId value : graph.values.ids()) {
    if (!graph.values[value].producer.valid()) continue;
    for (NodeId reader : readers[value]) ++missing[reader];
  }
  using Entry = std::pair<PathId, NodeId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  const auto make_ready = [&](NodeId id) { ready.emplace(graph.nodes[id].path, id); };
  for (NodeId id : graph.nodes.ids()) {
    if (missing[id] == 0) make_ready(id);
  }
  std::vector<NodeId> order;
  while (!ready.empty()) {
    const NodeId node = ready.top().second;
    ready.pop();
    order.push_back(node);
    for (ValueId output : graph.nodes[node].outputs) {
      for (NodeId reader : readers[output]) {
        if (--missing[reader] == 0) make_ready(reader);
      }
    }
  }
  CGRUN_CHECK(order.size() == graph.nodes.size()) << "the graph has a cycle";
  return order;
}

Tape MakeTape(const Graph& graph, const std::vector<ValueId>& keep) {
  return TapeMaker(graph, keep).Run();
}

}  // namespace cgrun
