// VerifyGraph: the rules that every pass must keep, one function a rule.
#include <bit>
#include <functional>

#include "src/ir/graph.h"
#include "src/ir/op_def.h"

namespace cgrun {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), is_next_(graph.values.size()) {}

  std::vector<std::string> Run() {
    CheckIds();
    if (!violations_.empty()) return violations_;  // the other rules index by these ids
    for (const UpdateEdge& edge : graph_.updates) is_next_[edge.next] = true;
    CheckNames();
    CheckProducers();
    CheckAcyclic();
    CheckSources();
    CheckTypes();
    CheckUpdates();
    return violations_;
  }

 private:
  void Fail(const std::string& sentence) { violations_.push_back(sentence); }

  void CheckIds() {
    for (const Node& node : graph_.nodes) {
      for (ValueId id : node.inputs) {
        if (!graph_.values.contains(id)) Fail(node.name + " reads a value that does not exist");
      }
      for (ValueId id : node.outputs) {
        if (!graph_.values.contains(id)) Fail(node.name + " writes a value that does not exist");
      }
    }
    for (const Value& value : graph_.values) {
      if (value.producer.valid() && !graph_.nodes.contains(value.producer)) {
        Fail(value.name + " has a producer that does not exist");
      }
    }
    for (const UpdateEdge& edge : graph_.updates) {
      if (!graph_.values.contains(edge.state) || !graph_.values.contains(edge.next)) {
        Fail("an update edge names a value that does not exist");
      }
    }
    for (const Output& output : graph_.outputs) {
      if (!graph_.values.contains(output.value)) {
        Fail("output " + output.name + " names a value that does not exist");
      }
    }
  }

  void CheckNames() {
    std::vector<uint64_t> hashes(std::bit_ceil(2 * graph_.values.size() + 1));  // 0: free
    for (const Value& value : graph_.values) {
      if (value.name.empty()) Fail("a value has no name");
      const uint64_t hash = std::hash<std::string>()(value.name) | 1;
      size_t slot = (hash >> 1) & (hashes.size() - 1);
      while (hashes[slot] != 0 && hashes[slot] != hash) slot = (slot + 1) & (hashes.size() - 1);
      if (hashes[slot] == hash) Fail("two values are called " + value.name);
      hashes[slot] = hash;
    }
  }

  void CheckProducers() {
    IdVector<ValueId, int> writers(graph_.values.size());
    for (NodeId id : graph_.nodes.ids()) {
      const Node& node = graph_.nodes[id];
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        const Value& value = graph_.values[node.outputs[i]];
        ++writers[node.outputs[i]];
        if (value.producer != id || value.output_index != static_cast<int>(i)) {
          Fail(value.name + " does not know that " + node.name + " produces it");
        }
      }
    }
    for (ValueId id : graph_.values.ids()) {
      const int expected = graph_.values[id].producer.valid() ? 1 : 0;
      if (writers[id] != expected) {
        Fail(graph_.values[id].name + " is written by " + std::to_string(writers[id]) + " nodes");
      }
    }
  }

  // Kahn's algorithm without TopologicalOrder, which checks.
  void CheckAcyclic() {
    if (IsInOrder(graph_)) return;
    const ReaderLists readers = Readers(graph_);
    IdVector<NodeId, int> missing(graph_.nodes.size());
    for (ValueId value : graph_.values.ids()) {
      if (!graph_.values[value].producer.valid()) continue;
      for (NodeId reader : readers[value]) ++missing[reader];
    }
    std::vector<NodeId> ready;
    for (NodeId id : graph_.nodes.ids()) {
      if (missing[id] == 0) ready.push_back(id);
    }
    for (size_t i = 0; i < ready.size(); ++i) {
      for (ValueId output : graph_.nodes[ready[i]].outputs) {
        for (NodeId reader : readers[output]) {
          if (--missing[reader] == 0) ready.push_back(reader);
        }
      }
    }
    if (ready.size() == graph_.nodes.size()) return;
    for (NodeId id : graph_.nodes.ids()) {
      if (missing[id] > 0) return Fail("a cycle goes through " + graph_.nodes[id].name);
    }
  }

  void CheckSources() {
    for (ValueId id : graph_.values.ids()) {
      const Value& value = graph_.values[id];
      const bool source = value.role == Role::kPlaceholder || value.role == Role::kConstant ||
                          value.role == Role::kParameter || value.role == Role::kRecurrentState;
      if (source && value.producer.valid() && !is_next_[id]) {
        Fail(value.name + " is a " + std::string(Name(value.role)) + " but has a producer");
      }
      const bool produced = value.role == Role::kIntermediate || value.role == Role::kGradient;
      if (produced && !value.producer.valid()) {
        Fail(value.name + " is a " + std::string(Name(value.role)) + " without a producer");
      }
      if (value.role == Role::kConstant && !graph_.constants.contains(id)) {
        Fail("constant " + value.name + " has no bytes");
      }
    }
  }

  void CheckTypes() {
    for (const Node& node : graph_.nodes) {
      const NodeSignature signature = SignatureOf(graph_, node);
      if (node.op == OpId::fused) {
        const std::string fault = FaultOfFused(signature);
        if (!fault.empty()) Fail(node.name + ": " + fault);
        continue;
      }
      InferContext context(signature.attributes, signature.inputs);
      const std::vector<TensorType> types = InferTypes(node.op, context);
      if (context.failed()) {
        Fail(node.name + ": " + context.message());
      } else if (types != signature.outputs) {
        Fail(node.name + " has outputs of other types than its operator infers");
      }
    }
  }

  void CheckUpdates() {
    IdVector<ValueId, bool> is_updated(graph_.values.size());
    for (const UpdateEdge& edge : graph_.updates) {
      const Value& state = graph_.values[edge.state];
      const Value& next = graph_.values[edge.next];
      if (!is_next_[edge.state]) {
        if (!IsState(state.role)) Fail(state.name + " is updated but is no state");
        if (state.producer.valid()) Fail("state " + state.name + " has a producer");
      }
      if (state.type != next.type) Fail(state.name + " and its update differ in type");
      if (is_updated[edge.state]) Fail(state.name + " is updated twice");
      is_updated[edge.state] = true;
    }
  }

  const Graph& graph_;
  IdVector<ValueId, bool> is_next_;  // of an update edge
  std::vector<std::string> violations_;
};

}  // namespace

std::vector<std::string> VerifyGraph(const Graph& graph) { return Verifier(graph).Run(); }

}  // namespace cgrun
