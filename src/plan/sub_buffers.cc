// PlaceSubBuffers: one walk along the schedule. A tensor is looked at with all its parts at once.
#include "src/plan/sub_buffers.h"

#include <algorithm>
#include <map>
#include <span>

#include "src/base/check.h"
#include "src/plan/bytes_over_time.h"

namespace cgrun {
namespace {

// A buffer that can lie in another one, from byte `begin` of a value there on.
struct Part {
  SharedBufferId buffer;
  int64_t begin = 0;
  int64_t bytes = 0;
};

// The nodes that read each value; one that reads it twice stands twice.
ReaderLists OperandLists(const Graph& graph) {
  ReaderLists lists(graph.values.size());
  for (const Node& node : graph.nodes) {
    for (ValueId input : node.inputs) lists.Count(input);
  }
  lists.Allot();
  for (NodeId id : graph.nodes.ids()) {
    for (ValueId input : graph.nodes[id].inputs) lists.Add(input, id);
  }
  return lists;
}

class SubBufferPlacer {
 public:
  SubBufferPlacer(const Graph& graph, const Schedule& schedule, bool zones_apart,
                  BufferAssignment& assignment)
      : graph_(graph),
        schedule_(schedule),
        zones_apart_(zones_apart),
        assignment_(assignment),
        readers_(OperandLists(graph)),
        is_fixed_(assignment.buffers.size()),
        time_of_(graph.nodes.size()) {
    for (const Output& output : graph.outputs) Fix(output.value);
    for (ValueId id : graph.values.ids()) {
      if (!graph.values[id].producer.valid()) Fix(id);
    }
    for (size_t time = 0; time < schedule.steps.size(); ++time) {
      const ScheduleStep& step = schedule.steps[time];
      const auto begin = static_cast<TimePoint>(time);
      time_of_[step.node] = {begin, begin + step.length};
    }
  }

  void Run() {
    for (const ScheduleStep& step : schedule_.steps) {
      if (HasParts(step.node)) JoinInPlace(step.node);
    }
    for (const ScheduleStep& step : schedule_.steps) {
      for (ValueId output : graph_.nodes[step.node].outputs) CutInPlace(output);
    }
    if (assignment_.sub_buffers > 0) RemoveEmpty();
  }

 private:
  const SharedBuffer& BufferOf(ValueId id) const {
    return assignment_.buffers[assignment_.of_value[id]];
  }

  void Fix(ValueId id) {
    const SharedBufferId buffer = assignment_.of_value[id];
    if (buffer.valid()) is_fixed_[buffer] = true;
  }

  bool HasParts(NodeId id) const {
    const Node& node = graph_.nodes[id];
    return node.kernel && !node.kernel->sub_buffers.empty();
  }

  // Returns whether the node's parts are inputs inside its output. A node that joins only one
  // tensor counts as a cut.
  bool Joins(NodeId id) const {
    const Node& node = graph_.nodes[id];
    const SubBufferPair& pair = node.kernel->sub_buffers[0];
    return graph_.BytesOf(node.inputs[static_cast<size_t>(pair.input)]) <
           graph_.BytesOf(node.outputs[static_cast<size_t>(pair.output)]);
  }

  static bool IsTransient(const SharedBuffer& buffer) {
    return !buffer.persistent && !buffer.kept && buffer.arena == ArenaKind::kDevice;
  }

  // Returns whether a node's result can lie together with other bytes. State, constants, feeds,
  // results and values kept between runs cannot.
  bool CanMove(SharedBufferId id) const {
    return IsTransient(assignment_.buffers[id]) && !is_fixed_[id];
  }

  // The value is its buffer's first and is as large as that.
  bool Begins(ValueId id) const {
    const SharedBuffer& buffer = BufferOf(id);
    return buffer.values[0] == id && buffer.bytes == graph_.BytesOf(id) &&
           assignment_.offset[id] == 0;
  }

  bool Fits(const Part& part, const SharedBuffer& whole) const {
    const SharedBuffer& buffer = assignment_.buffers[part.buffer];
    if (&buffer == &whole || part.begin % kDefaultAlignment != 0) return false;
    return CanMove(part.buffer) && (!zones_apart_ || buffer.zone == whole.zone);
  }

  // Places the operands that `id` joins inside its result. Each operand must fill a buffer of its
  // own size. No node behind `id`, or beside it in another stream, may use that buffer, because its
  // bytes then hold the whole.
  void JoinInPlace(NodeId id) {
    if (!Joins(id)) return;
    const Node& node = graph_.nodes[id];
    const ValueId whole = node.outputs[0];
    if (!Begins(whole) || !IsTransient(BufferOf(whole))) return;
    std::map<SharedBufferId, int> operands;  // in each buffer
    for (ValueId input : node.inputs) ++operands[assignment_.of_value[input]];
    std::vector<Part> parts;
    for (const SubBufferPair& pair : node.kernel->sub_buffers) {
      const ValueId input = node.inputs[static_cast<size_t>(pair.input)];
      const Part part{assignment_.of_value[input], pair.begin, graph_.BytesOf(input)};
      const SharedBuffer& buffer = assignment_.buffers[part.buffer];
      if (buffer.bytes != part.bytes || assignment_.offset[input] != 0) continue;
      if (buffer.lifespan.upper > time_of_[id].upper || !Fits(part, BufferOf(whole))) continue;
      if (operands.at(part.buffer) > 1 || IsUsedBeside(id, buffer)) continue;
      parts.push_back(part);
    }
    PlaceIfNoMoreIsAlive(whole, parts);
  }

  bool IsUsedBeside(NodeId id, const SharedBuffer& buffer) const {
    const auto runs_beside = [&](NodeId other) {
      return other != id && time_of_[other].upper > time_of_[id].lower;
    };
    return std::ranges::any_of(buffer.values, [&](ValueId value) {
      return runs_beside(graph_.values[value].producer) ||
             std::ranges::any_of(readers_[value], runs_beside);
    });
  }

  // Nothing but parts is read of `whole`, no byte by two of them: so what is made in place of one
  // changes no other.
  void CutInPlace(ValueId whole) {
    if (readers_[whole].empty() || !CanMove(assignment_.of_value[whole])) return;
    if (assignment_.elided[graph_.values[whole].producer]) return;
    std::vector<Part> parts, spans;
    for (NodeId id : readers_[whole]) {
      if (!HasParts(id) || Joins(id)) return;
      const SubBufferPair& pair = graph_.nodes[id].kernel->sub_buffers[0];
      const ValueId output = graph_.nodes[id].outputs[static_cast<size_t>(pair.output)];
      const Part part{assignment_.of_value[output], pair.begin, graph_.BytesOf(output)};
      spans.push_back(part);
      if (Begins(output) && Fits(part, BufferOf(whole))) parts.push_back(part);
    }
    std::ranges::sort(spans, {}, &Part::begin);
    for (size_t i = 1; i < spans.size(); ++i) {
      if (spans[i - 1].begin + spans[i - 1].bytes > spans[i].begin) return;
    }
    PlaceIfNoMoreIsAlive(whole, parts);
  }

  void PlaceIfNoMoreIsAlive(ValueId whole, std::span<const Part> parts) {
    if (parts.empty()) return;
    if (alive_.empty()) alive_ = BytesOverTime(TransientBytes(assignment_));
    const Bytes most = alive_.Most();
    const SharedBuffer& buffer = BufferOf(whole);
    Lifespan lifespan = buffer.lifespan;
    for (const Part& part : parts) {
      const SharedBuffer& moved = assignment_.buffers[part.buffer];
      lifespan.lower = std::min(lifespan.lower, moved.lifespan.lower);
      lifespan.upper = std::max(lifespan.upper, moved.lifespan.upper);
    }
    Count(buffer, lifespan, parts, 1);
    if (alive_.Most() > most) return Count(buffer, lifespan, parts, -1);
    for (const Part& part : parts) Move(part, whole);
    assignment_.buffers[assignment_.of_value[whole]].lifespan = lifespan;
  }

  // Has alive_ count the parts within the whole, which lives for `lifespan` then; with `sign` −1 as
  // before.
  void Count(const SharedBuffer& whole, Lifespan lifespan, std::span<const Part> parts, int sign) {
    const auto add = [&](int64_t bytes, const Lifespan& alive) {
      alive_.Add(sign * bytes, alive.lower, alive.upper);
    };
    add(RoundUp(whole.bytes, kDefaultAlignment), lifespan);
    add(-RoundUp(whole.bytes, kDefaultAlignment), whole.lifespan);
    for (const Part& part : parts) {
      const SharedBuffer& moved = assignment_.buffers[part.buffer];
      add(-RoundUp(moved.bytes, kDefaultAlignment), moved.lifespan);
    }
  }

  void Move(const Part& part, ValueId whole) {
    const SharedBufferId to = assignment_.of_value[whole];
    SharedBuffer& from = assignment_.buffers[part.buffer];
    SharedBuffer& buffer = assignment_.buffers[to];
    for (ValueId id : from.values) {
      assignment_.of_value[id] = to;
      assignment_.offset[id] += assignment_.offset[whole] + part.begin;
      buffer.values.push_back(id);
    }
    from.values = {};
    ++assignment_.sub_buffers;
    assignment_.in_place_bytes += from.bytes;
  }

  // Buffers whose values have moved: no value and no workspace is in them.
  void RemoveEmpty() {
    IdVector<SharedBufferId, SharedBuffer> buffers;
    IdVector<SharedBufferId, SharedBufferId> now(assignment_.buffers.size());
    for (SharedBufferId id : assignment_.buffers.ids()) {
      SharedBuffer& buffer = assignment_.buffers[id];
      if (buffer.values.empty() && !buffer.workspace_of.valid()) continue;
      now[id] = buffers.push_back(std::move(buffer));
    }
    for (SharedBufferId& id : assignment_.of_value) {
      if (id.valid()) id = now[id];
    }
    for (SharedBufferId& id : assignment_.of_workspace) {
      if (id.valid()) id = now[id];
    }
    assignment_.buffers = std::move(buffers);
  }

  const Graph& graph_;
  const Schedule& schedule_;
  const bool zones_apart_;
  BufferAssignment& assignment_;
  ReaderLists readers_;
  IdVector<SharedBufferId, bool> is_fixed_;  // an output or what is fed lies there
  IdVector<NodeId, Lifespan> time_of_;
  BytesOverTime alive_;  // once anything can be moved
};

}  // namespace

void PlaceSubBuffers(const Graph& graph, const Schedule& schedule, bool zones_apart,
                     BufferAssignment* assignment) {
  const bool has_parts = std::ranges::any_of(graph.nodes, [](const Node& node) {
    return node.kernel && !node.kernel->sub_buffers.empty();
  });
  if (has_parts) SubBufferPlacer(graph, schedule, zones_apart, *assignment).Run();
}

}  // namespace cgrun
