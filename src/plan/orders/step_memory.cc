// Holders of bytes, and how many nodes are still to read each.
#include "src/plan/orders/step_memory.h"

#include <algorithm>
#include <utility>

#include "src/ir/op_def.h"

namespace cgrun {
namespace {

template <class Items, class T>
bool Contains(const Items& items, const T& item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

}  // namespace

StepMemory::StepMemory(const Graph& graph)
    : of_value_(graph.values.size()), is_view_(graph.nodes.size()), uses_(graph.nodes.size()) {
  AddHolders(graph);
  last_reader_.resize(holders_.size());
  for (NodeId id : graph.nodes.ids()) AddUse(graph, id);
  AddReaders();
  for (const Output& output : graph.outputs) holders_[of_value_[output.value]].stays = true;
  for (const UpdateEdge& edge : graph.updates) holders_[of_value_[edge.next]].stays = true;
  for (ValueId id : graph.values.ids()) {
    const Holder& holder = holders_[of_value_[id]];
    if (graph.values[id].producer.valid()) continue;
    (holder.readers > 0 || holder.stays ? alive_ : unread_feeds_) += holder.bytes;
  }
}

void StepMemory::AddHolders(const Graph& graph) {
  IdVector<ValueId, bool> changes(graph.values.size());  // in this step: no view of it is one
  IdVector<ValueId, ValueId> state_of(graph.values.size());
  for (const UpdateEdge& edge : graph.updates) {
    changes[edge.state] = changes[edge.next] = true;
    state_of[edge.next] = edge.state;
  }
  const auto add = [&](ValueId id) {
    const Role role = graph.values[id].role;
    const bool persistent = IsState(role) || role == Role::kConstant;
    const bool counts = !persistent && ArenaOf(graph, id) == ArenaKind::kDevice;
    const Bytes bytes = counts ? RoundUp(graph.BytesOf(id), kDefaultAlignment) : 0;
    of_value_[id] = holders_.push_back({.bytes = bytes, .persistent = persistent});
  };
  for (ValueId id : graph.values.ids()) {
    if (!graph.values[id].producer.valid()) add(id);
  }
  for (NodeId id : TopologicalOrder(graph)) {
    const Node& node = graph.nodes[id];
    for (size_t o = 0; o < node.outputs.size(); ++o) {
      const ValueId output = node.outputs[o];
      if (state_of[output].valid()) {
        of_value_[output] = of_value_[state_of[output]];
      } else if (o == 0 && GetOpDef(node.op).view &&
                 !(holders_[of_value_[node.inputs[0]]].persistent && changes[node.inputs[0]])) {
        of_value_[output] = of_value_[node.inputs[0]];
        is_view_[id] = true;
      } else {
        add(output);
      }
    }
  }
}

void StepMemory::AddUse(const Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  NodeUse& use = uses_[id];
  use.reads = static_cast<uint32_t>(operands_.size());
  for (ValueId input : node.inputs) {
    const HolderId holder = of_value_[input];
    if (std::exchange(last_reader_[holder], id) == id) continue;
    ++holders_[holder].readers;
    operands_.push_back(holder);
  }
  use.makes = static_cast<uint32_t>(operands_.size());
  for (size_t o = is_view_[id] ? 1 : 0; o < node.outputs.size(); ++o) {
    operands_.push_back(of_value_[node.outputs[o]]);
  }
  use.makes_end = static_cast<uint32_t>(operands_.size());
  use.overwrites = static_cast<uint32_t>(overwrites_.size());
  if (node.kernel && !is_view_[id]) {
    use.workspace = RoundUp(node.kernel->workspace_bytes, kDefaultAlignment);
    AddOverwrites(graph, node);
  }
  use.overwrites_end = static_cast<uint32_t>(overwrites_.size());
}

void StepMemory::AddOverwrites(const Graph& graph, const Node& node) {
  for (const InPlacePair& pair : node.kernel->in_place) {
    const auto i = static_cast<size_t>(pair.input), o = static_cast<size_t>(pair.output);
    if (i >= node.inputs.size() || o >= node.outputs.size()) continue;  // operands are optional
    const HolderId from = of_value_[node.inputs[i]], to = of_value_[node.outputs[o]];
    const auto operands = std::count_if(node.inputs.begin(), node.inputs.end(),
                                        [&](ValueId other) { return of_value_[other] == from; });
    const bool fits = graph.BytesOf(node.inputs[i]) == graph.BytesOf(node.outputs[o]);
    if (!fits || operands > 1 || holders_[from].persistent || holders_[to].persistent) continue;
    overwrites_.push_back({from, to});
  }
}

void StepMemory::AddReaders() {
  read_by_ = FlatLists<HolderId, NodeId>(holders_.size());
  for (const NodeUse& use : uses_) {
    for (HolderId holder : Reads(use)) read_by_.Count(holder);
  }
  read_by_.Allot();
  for (NodeId id : uses_.ids()) {
    for (HolderId holder : Reads(uses_[id])) read_by_.Add(holder, id);
  }
}

// Of the outputs, those that need no bytes of their own if the node is next.
Bytes StepMemory::OverwrittenBytes(const NodeUse& use) const {
  Bytes bytes = 0;
  InlineVector<HolderId, 8> taken;
  for (const auto& [input, output] : Overwrites(use)) {
    const Holder& holder = holders_[input];
    if (holder.readers > 1 || holder.stays) continue;
    if (Contains(taken, input) || Contains(taken, output)) continue;
    taken.push_back(input);
    taken.push_back(output);
    bytes += holder.bytes;
  }
  return bytes;
}

Bytes StepMemory::During(NodeId node) const {
  const NodeUse& use = uses_[node];
  Bytes bytes = alive_ + use.workspace - OverwrittenBytes(use) + alive_beside();
  for (HolderId holder : Makes(use)) bytes += holders_[holder].bytes;
  return bytes;
}

Bytes StepMemory::LeastDuring(NodeId node) const {
  const NodeUse& use = uses_[node];
  Bytes bytes = use.workspace;
  for (HolderId holder : Reads(use)) bytes += holders_[holder].bytes;
  for (HolderId holder : Makes(use)) bytes += holders_[holder].bytes;
  for (const Overwrite& overwrite : Overwrites(use)) bytes -= holders_[overwrite.output].bytes;
  return bytes;
}

void StepMemory::Run(NodeId node) {
  const NodeUse& use = uses_[node];
  for (HolderId holder : Makes(use)) {
    if (!Dies(holder)) alive_ += holders_[holder].bytes;
  }
  for (HolderId holder : Reads(use)) {
    --holders_[holder].readers;
    if (Dies(holder)) alive_ -= holders_[holder].bytes;
  }
  ++run_;
}

void StepMemory::TakeBack(NodeId node) {
  const NodeUse& use = uses_[node];
  for (HolderId holder : Reads(use)) {
    if (Dies(holder)) alive_ += holders_[holder].bytes;
    ++holders_[holder].readers;
  }
  for (HolderId holder : Makes(use)) {
    if (!Dies(holder)) alive_ -= holders_[holder].bytes;
  }
  --run_;
}

void StepMemory::AppendReadersOfLast(NodeId node, std::vector<NodeId>& readers) const {
  for (HolderId id : Reads(uses_[node])) {
    if (holders_[id].readers != 1) continue;
    readers.insert(readers.end(), read_by_[id].begin(), read_by_[id].end());
  }
}

Bytes PeakOfOrder(const Graph& graph, std::span<const NodeId> order) {
  StepMemory memory(graph);
  Bytes peak = 0;
  for (NodeId node : order) {
    peak = std::max(peak, memory.During(node));
    memory.Run(node);
  }
  return peak;
}

}  // namespace cgrun
