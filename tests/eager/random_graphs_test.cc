// Eager mode on random graphs: the interpreter's bits, under every policy; and reference counts
// against liveness that is worked out in no clever way.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "src/eager/peak.h"
#include "src/ir/op_def.h"
#include "src/ops/dropout.h"
#include "tests/eager/eager_testing.h"
#include "tests/support/random_graph.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

constexpr uint64_t kGraphs = kSanitized ? 100 : 600;

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

std::string NameOf(const Graph& graph, uint64_t seed) {
  return "seed " + std::to_string(seed) + "\n" + ToString(graph);
}

// An edge for each state, where a plan has a chain of them: see plan/update_legality.h.
Graph WithoutChains(Graph graph) {
  std::map<ValueId, ValueId> next;
  for (const UpdateEdge& edge : graph.updates) next.emplace(edge.state, edge.next);
  std::erase_if(graph.updates,
                [&](const UpdateEdge& edge) { return graph.values[edge.state].producer.valid(); });
  for (UpdateEdge& edge : graph.updates) {
    while (next.contains(edge.next)) edge.next = next.at(edge.next);
  }
  return graph;
}

TEST(EagerRandomGraphs, GiveTheInterpretersBits) {
  for (uint64_t seed = 1; seed <= kGraphs; ++seed) {
    const Graph graph = MakeRandomGraph(seed);
    const int64_t batch = 1 + static_cast<int64_t>(seed % 3);
    const Graph bound = BindBatch(graph, batch);
    const StepInputs inputs = RandomInputs(bound, 3, seed);
    const std::vector<StepResult> wanted = InterpretSteps(bound, Reference(), inputs);
    const Graph plain = PreparePlain(graph, batch, Reference());
    for (FreePolicy free : {FreePolicy::kAtLastReader, FreePolicy::kAfterStep}) {
      EagerOptions options;
      options.free = free;
      ASSERT_EQ(FirstDifference(RunEagerSteps(plain, Reference(), inputs, options), wanted), "")
          << NameOf(graph, seed);
    }
    // The graph that graph mode has prepared, with its copies for updates, can run eagerly too.
    const Graph prepared = WithoutChains(PrepareGraph(graph, batch, Reference()));
    ASSERT_EQ(FirstDifference(RunEagerSteps(prepared, Reference(), inputs), wanted), "")
        << NameOf(graph, seed);
  }
}

// Follows the events of a run, and knows what must be alive at each.
class BruteForce final : public EagerListener {
 public:
  explicit BruteForce(const Graph& graph) : graph_(graph) {
    const std::vector<NodeId> order = ProgramOrder(graph);
    for (size_t i = 0; i < order.size(); ++i) position_[order[i]] = static_cast<int64_t>(i);
    for (ValueId id : graph.values.ids()) ids_[graph.values[id].name] = id;
    for (NodeId id : order) Wanted(id);
  }

  void OnAllocate(std::string_view value, int64_t) override {
    if (value.ends_with(".workspace") || IsOfModel(Id(value))) return;
    Fail(live_.insert(Id(value)).second, value, "is allocated twice");
    allocated_.insert(Id(value));
  }
  void OnFree(std::string_view value) override {
    if (value.ends_with(".workspace") || IsOfModel(Id(value))) return;
    Fail(live_.erase(Id(value)) == 1, value, "is freed without being there");
  }
  void OnRun(std::string_view name) override {
    const NodeId id = Find(name);
    const Node& node = graph_.nodes[id];
    const int64_t now = position_[id];
    for (ValueId output : node.outputs) {
      if (!allocated_.contains(output)) TakeOver(node, output, now);
    }
    allocated_.clear();
    for (ValueId value : Roots()) {
      const bool needed = NeededAt(value, now);
      const bool there = live_.contains(value);
      Fail(!needed || there || overwritten_.contains(value), graph_.values[value].name,
           "is gone when " + node.name + " runs");
      Fail(needed || !there, graph_.values[value].name,
           "is still there when " + node.name + " runs");
      checks += there;
    }
  }

  std::string fault;  // the first; "" where there is none
  int64_t checks = 0;
  int64_t in_place = 0;

 private:
  void Fail(bool holds, std::string_view value, const std::string& what) {
    if (!holds && fault.empty()) fault = std::string(value) + " " + what;
  }
  ValueId Id(std::string_view name) const { return ids_.at(std::string(name)); }
  NodeId Find(std::string_view name) const {
    for (NodeId id : graph_.nodes.ids()) {
      if (graph_.nodes[id].name == name) return id;
    }
    return NodeId();
  }

  bool IsOfModel(ValueId id) const {
    return IsState(graph_.values[id].role) || graph_.values[id].role == Role::kConstant;
  }

  // The value whose bytes a view shows.
  ValueId Root(ValueId id) const {
    const NodeId producer = graph_.values[id].producer;
    if (!producer.valid()) return id;
    const Node& node = graph_.nodes[producer];
    const bool same = graph_.values[id].type == graph_.values[node.inputs[0]].type;
    const bool idle =
        node.op == OpId::identity || node.op == OpId::cast ||
        (node.op == OpId::dropout && !node.attributes.As<DropoutAttributes>().training);
    return GetOpDef(node.op).view || (same && idle) ? Root(node.inputs[0]) : id;
  }

  // If anything wants the result of a node, notes that it reads its operands.
  void Wanted(NodeId id) {
    std::set<NodeId> seen;
    if (!IsWanted(id, seen)) return;
    for (ValueId input : graph_.nodes[id].inputs) {
      last_read_[Root(input)] = std::max(last_read_[Root(input)], position_[id]);
    }
    for (ValueId output : graph_.nodes[id].outputs) {
      if (Root(output) == output) produced_[output] = position_[id];
    }
  }
  bool IsWanted(NodeId id, std::set<NodeId>& seen) const {
    const Node& node = graph_.nodes[id];
    if (node.phase != Phase::kBackward || GetOpDef(node.op).has_effect) return true;
    if (!seen.insert(id).second) return false;
    for (ValueId output : node.outputs) {
      if (IsHeld(output, /*exactly=*/true)) return true;
      for (NodeId reader : graph_.nodes.ids()) {
        const auto& inputs = graph_.nodes[reader].inputs;
        const bool reads = std::find(inputs.begin(), inputs.end(), output) != inputs.end();
        if (reads && IsWanted(reader, seen)) return true;
      }
    }
    return false;
  }

  // Returns whether the value is an output or the new value of a state, either itself or through a
  // view.
  bool IsHeld(ValueId id, bool exactly) const {
    const auto is = [&](ValueId value) { return exactly ? value == id : Root(value) == id; };
    for (const Output& output : graph_.outputs) {
      if (is(output.value)) return true;
    }
    for (const UpdateEdge& edge : graph_.updates) {
      if (is(edge.next)) return true;
    }
    return false;
  }

  std::vector<ValueId> Roots() const {
    std::vector<ValueId> roots;
    for (ValueId id : graph_.values.ids()) {
      if (Root(id) == id && !IsOfModel(id)) roots.push_back(id);
    }
    return roots;
  }

  bool NeededAt(ValueId id, int64_t now) const {
    const bool fed = !graph_.values[id].producer.valid();
    const auto produced = produced_.find(id);
    if (!fed && (produced == produced_.end() || produced->second > now)) return false;
    if (IsHeld(id, false)) return true;
    const auto read = last_read_.find(id);
    const int64_t last = read == last_read_.end() ? -1 : read->second;
    return std::max(last, fed ? -1 : produced->second) >= now;
  }

  // The output lies in an input that nothing reads later: of an optimizer, of a statistic, or of a
  // sum of gradients. A state that is written over stays with the model.
  void TakeOver(const Node& node, ValueId output, int64_t now) {
    ++in_place;
    const std::vector<InPlacePair>& updates = GetOpDef(node.op).updates;
    const bool sum = node.op == OpId::add && node.phase == Phase::kBackward;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId input = Root(node.inputs[i]);
      const InPlacePair pair{static_cast<int>(i), graph_.values[output].output_index};
      const bool update = std::find(updates.begin(), updates.end(), pair) != updates.end();
      const bool state = IsState(graph_.values[input].role);
      if ((!update && !sum) || (state && !update) || IsHeld(input, false)) continue;
      const auto read = last_read_.find(input);
      if (read == last_read_.end() || read->second != now) continue;
      if (!state && live_.erase(input) == 0) continue;
      overwritten_.insert(input);
      live_.insert(output);
      return;
    }
    Fail(false, graph_.values[output].name, "has no memory");
  }

  const Graph& graph_;
  std::map<std::string, ValueId> ids_;
  std::map<NodeId, int64_t> position_;
  std::map<ValueId, int64_t> produced_, last_read_;
  std::set<ValueId> live_;
  std::set<ValueId> allocated_;    // since the last node ran
  std::set<ValueId> overwritten_;  // taken over
};

TEST(EagerRandomGraphs, PeaksAreForetold) {
  int64_t most = 0;
  for (uint64_t seed = 1; seed <= kGraphs; ++seed) {
    const Graph prepared = PreparePlain(MakeRandomGraph(seed), 3, Reference());
    AllocatorStatistics statistics;
    RunEagerSteps(prepared, Reference(), RandomInputs(prepared, 2, seed), {}, &statistics);
    const Graph* const graphs[] = {&prepared};
    ASSERT_EQ(EagerPeakBytes(graphs), statistics.live_peak_bytes) << NameOf(prepared, seed);
    most = std::max(most, statistics.live_peak_bytes);
  }
  EXPECT_GT(most, 2000);
}

// A step's events, node by node: all that is needed is there, and nothing else.
TEST(EagerRandomGraphs, ReferenceCountsAreLiveness) {
  int64_t checks = 0, in_place = 0;
  for (uint64_t seed = 1; seed <= kGraphs; ++seed) {
    const Graph graph = MakeRandomGraph(seed);
    const Graph prepared = PreparePlain(graph, 2, Reference());
    const StepInputs inputs = RandomInputs(prepared, 1, seed);
    BruteForce listener(prepared);
    EagerOptions options;
    options.listener = &listener;
    RunEagerSteps(prepared, Reference(), inputs, options);
    ASSERT_EQ(listener.fault, "") << NameOf(prepared, seed);
    checks += listener.checks;
    in_place += listener.in_place;
  }
  EXPECT_GT(checks, 50 * static_cast<int64_t>(kGraphs));
  EXPECT_GT(in_place, static_cast<int64_t>(kGraphs) / 2);
}

}  // namespace
}  // namespace cgrun
