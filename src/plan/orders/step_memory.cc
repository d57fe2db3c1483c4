// Holders of bytes, and how many nodes are still to read each.
#include "src/plan/orders/step_memory.h"

#include <algorithm>

#include "src/ir/op_def.h"

namespace cgrun {
namespace {

template <class T>
bool Contains(const std::vector<T>& items, const T& item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

}  // namespace

StepMemory::StepMemory(const Graph& graph)
    : of_value_(graph.values.size()), is_view_(graph.nodes.size()), uses_(graph.nodes.size()) {
  AddHolders(graph);
  for (NodeId id : graph.nodes.ids()) AddUse(graph, id);
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
  for (ValueId input : node.inputs) {
    Holder& holder = holders_[of_value_[input]];
    if (!holder.read_by.empty() && holder.read_by.back() == id) continue;
    ++holder.readers;
    holder.read_by.push_back(id);
    use.reads.push_back(of_value_[input]);
  }
  for (size_t o = is_view_[id] ? 1 : 0; o < node.outputs.size(); ++o) {
    use.makes.push_back(of_value_[node.outputs[o]]);
  }
  if (!node.kernel || is_view_[id]) return;
  use.workspace = RoundUp(node.kernel->workspace_bytes, kDefaultAlignment);
  for (const InPlacePair& pair : node.kernel->in_place) {
    const auto i = static_cast<size_t>(pair.input), o = static_cast<size_t>(pair.output);
    if (i >= node.inputs.size() || o >= node.outputs.size()) continue;  // operands are optional
    const HolderId from = of_value_[node.inputs[i]], to = of_value_[node.outputs[o]];
    const auto operands = std::count_if(node.inputs.begin(), node.inputs.end(),
                                        [&](ValueId other) { return of_value_[other] == from; });
    const bool fits = graph.BytesOf(node.inputs[i]) == graph.BytesOf(node.outputs[o]);
    if (!fits || operands > 1 || holders_[from].persistent || holders_[to].persistent) continue;
    use.overwrites.push_back({from, to});
  }
}

// Of the outputs, those that need no bytes of their own if the node is next.
Bytes StepMemory::OverwrittenBytes(const NodeUse& use) const {
  Bytes bytes = 0;
  std::vector<HolderId> taken;
  for (const auto& [input, output] : use.overwrites) {
    const Holder& holder = holders_[input];
    if (holder.readers > 1 || holder.stays) continue;
    if (Contains(taken, input) || Contains(taken, output)) continue;
    taken.insert(taken.end(), {input, output});
    bytes += holder.bytes;
  }
  return bytes;
}

Bytes StepMemory::During(NodeId node) const {
  const NodeUse& use = uses_[node];
  Bytes bytes = alive_ + use.workspace - OverwrittenBytes(use) + alive_beside();
  for (HolderId holder : use.makes) bytes += holders_[holder].bytes;
  return bytes;
}

Bytes StepMemory::LeastDuring(NodeId node) const {
  const NodeUse& use = uses_[node];
  Bytes bytes = use.workspace;
  for (HolderId holder : use.reads) bytes += holders_[holder].bytes;
  for (HolderId holder : use.makes) bytes += holders_[holder].bytes;
  for (const Overwrite& overwrite : use.overwrites) bytes -= holders_[overwrite.output].bytes;
  return bytes;
}

void StepMemory::Run(NodeId node) {
  const NodeUse& use = uses_[node];
  for (HolderId holder : use.makes) {
    if (!Dies(holder)) alive_ += holders_[holder].bytes;
  }
  for (HolderId holder : use.reads) {
    --holders_[holder].readers;
    if (Dies(holder)) alive_ -= holders_[holder].bytes;
  }
  ++run_;
}

void StepMemory::TakeBack(NodeId node) {
  const NodeUse& use = uses_[node];
  for (HolderId holder : use.reads) {
    if (Dies(holder)) alive_ += holders_[holder].bytes;
    ++holders_[holder].readers;
  }
  for (HolderId holder : use.makes) {
    if (!Dies(holder)) alive_ -= holders_[holder].bytes;
  }
  --run_;
}

void StepMemory::AppendReadersOfLast(NodeId node, std::vector<NodeId>& readers) const {
  for (HolderId id : uses_[node].reads) {
    const Holder& holder = holders_[id];
    if (holder.readers != 1) continue;
    readers.insert(readers.end(), holder.read_by.begin(), holder.read_by.end());
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
