// Alias sets, and how many nodes are still to read each.
#include "src/plan/orders/step_memory.h"

#include <algorithm>
#include <utility>

namespace cgrun {
namespace {

template <class Items, class T>
bool Contains(const Items& items, const T& item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

}  // namespace

StepMemory::StepMemory(const Graph& graph) : uses_(graph.nodes.size()) {
  // These alias sets are made without in-place results, because only a full order decides what is
  // overwritten.
  AliasModel model(graph, {.in_place = false});
  std::vector<NodeRun> runs;
  runs.reserve(graph.nodes.size());
  for (NodeId id : TopologicalOrder(graph)) {
    runs.push_back({id, graph.nodes[id].inputs, graph.nodes[id].outputs});
  }
  model.FindSets(runs);
  for (const AliasSet& set : model.sets()) {
    sets_.push_back({set.facts.Transient(), set.facts.stays, 0});
  }
  last_reader_.resize(sets_.size());
  for (const NodeRun& run : runs) AddNodeUse(model, run);
  AddReaders();
  for (ValueId id : model.fed()) {
    const Use& set = sets_[model.SetOf(id)];
    (set.readers > 0 || set.stays ? alive_ : unread_feeds_) += set.bytes;
  }
}

void StepMemory::AddNodeUse(const AliasModel& model, const NodeRun& run) {
  NodeUse& use = uses_[run.node];
  use.reads = static_cast<uint32_t>(operands_.size());
  for (ValueId input : run.inputs) {
    const AliasSetId set = model.SetOf(input);
    if (std::exchange(last_reader_[set], run.node) == run.node) continue;
    ++sets_[set].readers;
    operands_.push_back(set);
  }
  const bool is_elided = model.IsElided(run);
  use.makes = static_cast<uint32_t>(operands_.size());
  for (ValueId output : run.outputs.subspan(is_elided ? 1 : 0)) {
    operands_.push_back(model.SetOf(output));
  }
  use.makes_end = static_cast<uint32_t>(operands_.size());
  use.workspace = RoundUp(model.WorkspaceOf(run), kDefaultAlignment);
  use.overwrites = static_cast<uint32_t>(overwrites_.size());
  for (const InPlacePair& pair : model.InPlacePairs(run.node)) {
    if (is_elided || !model.MayOverwrite(run, pair)) continue;
    overwrites_.push_back({model.SetOf(run.inputs[static_cast<size_t>(pair.input)]),
                           model.SetOf(run.outputs[static_cast<size_t>(pair.output)])});
  }
  use.overwrites_end = static_cast<uint32_t>(overwrites_.size());
}

void StepMemory::AddReaders() {
  read_by_ = FlatLists<AliasSetId, NodeId>(sets_.size());
  for (const NodeUse& use : uses_) {
    for (AliasSetId set : Reads(use)) read_by_.Count(set);
  }
  read_by_.Allot();
  for (NodeId id : uses_.ids()) {
    for (AliasSetId set : Reads(uses_[id])) read_by_.Add(set, id);
  }
}

// Returns the bytes of the outputs that need none of their own if the node is next.
Bytes StepMemory::OverwrittenBytes(const NodeUse& use) const {
  Bytes bytes = 0;
  InlineVector<AliasSetId, 8> taken;
  for (const auto& [input, output] : Overwrites(use)) {
    const Use& set = sets_[input];
    if (set.readers > 1 || set.stays) continue;
    if (Contains(taken, input) || Contains(taken, output)) continue;
    taken.push_back(input);
    taken.push_back(output);
    bytes += set.bytes;
  }
  return bytes;
}

Bytes StepMemory::During(NodeId node) const {
  const NodeUse& use = uses_[node];
  Bytes bytes = alive_ + use.workspace - OverwrittenBytes(use) + alive_beside();
  for (AliasSetId set : Makes(use)) bytes += sets_[set].bytes;
  return bytes;
}

Bytes StepMemory::LeastDuring(NodeId node) const {
  const NodeUse& use = uses_[node];
  Bytes bytes = use.workspace;
  for (AliasSetId set : Reads(use)) bytes += sets_[set].bytes;
  for (AliasSetId set : Makes(use)) bytes += sets_[set].bytes;
  for (const Overwrite& overwrite : Overwrites(use)) bytes -= sets_[overwrite.output].bytes;
  return bytes;
}

void StepMemory::Run(NodeId node) {
  const NodeUse& use = uses_[node];
  for (AliasSetId set : Makes(use)) {
    if (!Dies(set)) alive_ += sets_[set].bytes;
  }
  for (AliasSetId set : Reads(use)) {
    --sets_[set].readers;
    if (Dies(set)) alive_ -= sets_[set].bytes;
  }
  ++run_;
}

void StepMemory::Undo(NodeId node) {
  const NodeUse& use = uses_[node];
  for (AliasSetId set : Reads(use)) {
    if (Dies(set)) alive_ += sets_[set].bytes;
    ++sets_[set].readers;
  }
  for (AliasSetId set : Makes(use)) {
    if (!Dies(set)) alive_ -= sets_[set].bytes;
  }
  --run_;
}

void StepMemory::AppendReadersOfLast(NodeId node, std::vector<NodeId>& readers) const {
  for (AliasSetId id : Reads(uses_[node])) {
    if (sets_[id].readers != 1) continue;
    readers.insert(readers.end(), read_by_[id].begin(), read_by_[id].end());
  }
}

}  // namespace cgrun
