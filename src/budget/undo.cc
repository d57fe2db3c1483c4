// UndoRecompute changes the graph. UndoTrials change a copy of the nodes' inputs, and change it
// back.
#include "src/budget/undo.h"

#include <algorithm>

#include "src/budget/swap.h"
#include "src/ir/op_def.h"
#include "src/plan/liveness.h"

namespace cgrun {
namespace {

// A recomputation of those in `keep` whose results no other node of `keep` reads.
NodeId RecomputedForNobody(const Graph& graph, const IdVector<NodeId, bool>& keep) {
  IdVector<ValueId, bool> is_read(graph.values.size());
  for (NodeId id : graph.nodes.ids()) {
    for (ValueId input : graph.nodes[id].inputs) is_read[input] = is_read[input] || keep[id];
  }
  for (NodeId id : graph.nodes.ids()) {
    const Node& node = graph.nodes[id];
    const bool for_nobody =
        std::none_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId output) { return static_cast<bool>(is_read[output]); });
    if (keep[id] && node.recomputes.valid() && for_nobody) return id;
  }
  return {};
}

}  // namespace

void UndoRecompute(Graph& graph, Schedule& schedule, const std::vector<NodeId>& again) {
  IdVector<NodeId, bool> keep_node(graph.nodes.size(), true);
  IdVector<ValueId, bool> keep_value(graph.values.size(), true);
  const auto take_back = [&](NodeId id) {
    while (id.valid() && keep_node[id]) {
      const Node& node = graph.nodes[id];
      keep_node[id] = false;
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        const ValueId first = graph.nodes[node.recomputes].outputs[i];
        keep_value[node.outputs[i]] = false;
        for (Node& reader : graph.nodes) {
          std::replace(reader.inputs.begin(), reader.inputs.end(), node.outputs[i], first);
        }
      }
      for (Node& other : graph.nodes) {
        if (other.recomputes == id) other.recomputes = node.recomputes;
      }
      id = RecomputedForNobody(graph, keep_node);
    }
  };
  take_back(RecomputedForNobody(graph, keep_node));
  for (NodeId id : again) take_back(id);
  const IdVector<NodeId, NodeId> renumbered = Compact(graph, keep_node, keep_value);
  std::erase_if(schedule.steps, [&](const ScheduleStep& step) { return !keep_node[step.node]; });
  for (ScheduleStep& step : schedule.steps) step.node = renumbered[step.node];
}

UndoTrials::UndoTrials(const Graph& graph, const Schedule& schedule, const BufferOptions& options)
    : graph_(graph),
      model_(graph, options),
      time_(graph.nodes.size()),
      changed_at_(ChangeTimes(graph, schedule)),
      is_gone_(graph.nodes.size()),
      readers_(Readers(graph)),
      more_readers_(graph.values.size()) {
  for (const ScheduleStep& step : schedule.steps) {
    time_[step.node] = static_cast<TimePoint>(order_.size());
    order_.push_back(step.node);
  }
  for (const Node& node : graph.nodes) {
    inputs_of_.push_back(
        {static_cast<uint32_t>(inputs_.size()), static_cast<uint32_t>(node.inputs.size())});
    inputs_.insert(inputs_.end(), node.inputs.begin(), node.inputs.end());
    first_run_.push_back(node.recomputes);
  }
  for (NodeId id : graph.nodes.ids()) {  // this goes before anything else
    const bool for_nobody = first_run_[id].valid() && !is_gone_[id] && !IsReadElsewhere(id);
    if (for_nobody) UndoRun(id);
  }
  Keep();
}

const std::vector<Bytes>* UndoTrials::Try(NodeId id) {
  Undo();
  if (is_gone_[id]) return nullptr;
  const bool is_swap = graph_.nodes[id].op == OpId::swap_out;
  if (!(is_swap ? UndoSwap(id) : UndoRun(id))) return nullptr;
  runs_.clear();
  for (NodeId node : order_) {
    if (!is_gone_[node]) runs_.push_back({node, Inputs(node), graph_.nodes[node].outputs});
  }
  return &model_.CountBytes(runs_);
}

void UndoTrials::Undo() {
  for (; !edits_.empty(); edits_.pop_back()) {
    const Edit& edit = edits_.back();
    switch (edit.kind) {
      case Edit::Kind::kInput:
        Inputs(edit.node)[edit.input] = edit.value;
        break;
      case Edit::Kind::kReader:
        more_readers_[edit.value].pop_back();
        break;
      case Edit::Kind::kRemoved:
        is_gone_[edit.node] = false;
        break;
      case Edit::Kind::kFirst:
        first_run_[edit.node] = edit.first_run;
        break;
    }
  }
}

void UndoTrials::Remove(NodeId id) {
  is_gone_[id] = true;
  edits_.push_back({Edit::Kind::kRemoved, id});
}

bool UndoTrials::IsReadElsewhere(NodeId id) const {
  return std::ranges::any_of(graph_.nodes[id].outputs, [&](ValueId output) {
    const auto reads = [&](NodeId reader) {
      return !is_gone_[reader] && std::ranges::find(Inputs(reader), output) != Inputs(reader).end();
    };
    return std::ranges::any_of(readers_[output], reads) ||
           std::ranges::any_of(more_readers_[output], reads);
  });
}

// Returns false where a reader would come before what it reads, or behind a change of it.
bool UndoTrials::ReadInstead(ValueId value, ValueId instead) {
  const NodeId producer = graph_.values[instead].producer;
  const TimePoint changed_at = changed_at_[Viewed(instead)];
  std::vector<NodeId> readers(readers_[value].begin(), readers_[value].end());
  readers.insert(readers.end(), more_readers_[value].begin(), more_readers_[value].end());
  for (const NodeId reader : readers) {
    if (is_gone_[reader]) continue;
    const std::span<ValueId> inputs = Inputs(reader);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] != value) continue;
      if (producer.valid() && time_[producer] >= time_[reader]) return false;
      if (time_[reader] >= changed_at) return false;
      inputs[i] = instead;
      edits_.push_back({Edit::Kind::kInput, reader, i, value});
    }
    more_readers_[instead].push_back(reader);
    edits_.push_back({Edit::Kind::kReader, {}, 0, instead});
  }
  return true;
}

bool UndoTrials::UndoRun(NodeId id) {
  std::vector<NodeId> going = {id};
  while (!going.empty()) {
    const NodeId again = going.back();
    going.pop_back();
    const NodeId first = first_run_[again];
    Remove(again);
    const std::vector<ValueId>& outputs = graph_.nodes[again].outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!ReadInstead(outputs[i], graph_.nodes[first].outputs[i])) return false;
    }
    for (NodeId other : graph_.nodes.ids()) {
      if (first_run_[other] != again) continue;
      edits_.push_back({Edit::Kind::kFirst, other, 0, {}, again});
      first_run_[other] = first;
    }
    for (ValueId input : Inputs(again)) {
      const NodeId producer = graph_.values[input].producer;
      if (!producer.valid() || is_gone_[producer] || !first_run_[producer].valid()) continue;
      const bool is_listed = std::ranges::find(going, producer) != going.end();
      if (!is_listed && !IsReadElsewhere(producer)) going.push_back(producer);
    }
  }
  return true;
}

bool UndoTrials::UndoSwap(NodeId out) {
  const Node& swap = graph_.nodes[out];
  for (NodeId id : graph_.nodes.ids()) {
    const Node& node = graph_.nodes[id];
    if (!IsTransfer(node.op) || FileOf(node) != swap.outputs[0]) continue;
    Remove(id);
    const bool is_back = node.op == OpId::swap_in_wait;
    if (is_back && !ReadInstead(node.outputs[0], swap.inputs[0])) return false;
  }
  return true;
}

// Returns the value that `value` views through all views. If that is a state, it changes with the
// state.
ValueId UndoTrials::Viewed(ValueId value) const {
  for (NodeId id = graph_.values[value].producer;
       id.valid() && GetOpDef(graph_.nodes[id].op).view;) {
    value = Inputs(id)[0];
    id = graph_.values[value].producer;
  }
  return value;
}

}  // namespace cgrun
