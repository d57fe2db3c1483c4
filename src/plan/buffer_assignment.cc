// AssignBuffers: one walk along the schedule that gives each output a buffer, its own or an
// input's.
#include "src/plan/buffer_assignment.h"

#include <algorithm>
#include <numeric>

#include "src/base/check.h"
#include "src/ir/op_def.h"
#include "src/plan/parts_in_place.h"

namespace cgrun {
namespace {

class Assigner {
 public:
  Assigner(const Graph& graph, const Liveness& liveness, const BufferOptions& options)
      : graph_(graph), liveness_(liveness), options_(options) {
    result_.of_value.resize(graph.values.size());
    result_.offset.resize(graph.values.size());
    result_.of_workspace.resize(graph.nodes.size());
    result_.elided.resize(graph.nodes.size());
    updated_.resize(graph.values.size());
    state_of_next_.resize(graph.values.size());
    is_output_.resize(graph.values.size());
    for (const UpdateEdge& edge : graph.updates) {
      updated_[edge.state] = true;
      state_of_next_[edge.next] = edge.state;
    }
    for (const Output& output : graph.outputs) is_output_[output.value] = true;
    const size_t most_buffers = graph.values.size() + graph.nodes.size();
    result_.buffers.reserve(most_buffers);
    has_output_.resize(most_buffers);
    changes_.resize(most_buffers);
  }

  BufferAssignment Run(const Schedule& schedule) {
    for (ValueId id : graph_.values.ids()) {
      if (!graph_.values[id].producer.valid()) NewBuffer(id);
    }
    NoteLanes(schedule);
    for (size_t time = 0; time < schedule.steps.size(); ++time) {
      const auto begin = static_cast<TimePoint>(time);
      Visit(schedule.steps[time].node, {begin, begin + schedule.steps[time].length});
    }
    return std::move(result_);
  }

 private:
  SharedBuffer& BufferOf(ValueId id) { return result_.buffers[result_.of_value[id]]; }

  void NewBuffer(ValueId id) {
    const Value& value = graph_.values[id];
    SharedBuffer buffer;
    buffer.bytes = graph_.BytesOf(id);
    buffer.zone = value.zone;
    buffer.arena = ArenaOf(graph_, id);
    buffer.persistent = IsState(value.role) || value.role == Role::kConstant;
    buffer.lifespan = liveness_.values[id];
    buffer.kept = liveness_.kept[id];
    buffer.values.push_back(id);
    result_.of_value[id] = result_.buffers.push_back(std::move(buffer));
    Note(id);
  }

  // What is asked of all values of a buffer.
  void Note(ValueId id) {
    const SharedBufferId buffer = result_.of_value[id];
    has_output_[buffer] = has_output_[buffer] || is_output_[id];
    changes_[buffer] = changes_[buffer] || updated_[id] || state_of_next_[id].valid();
  }

  void Join(ValueId id, SharedBufferId buffer_id) {
    SharedBuffer& buffer = result_.buffers[buffer_id];
    CGRUN_CHECK(graph_.BytesOf(id) == buffer.bytes) << graph_.values[id].name;
    result_.of_value[id] = buffer_id;
    buffer.lifespan.lower = std::min(buffer.lifespan.lower, liveness_.values[id].lower);
    buffer.lifespan.upper = std::max(buffer.lifespan.upper, liveness_.values[id].upper);
    buffer.kept = buffer.kept || liveness_.kept[id];
    buffer.values.push_back(id);
    Note(id);
  }

  // Where nodes run side by side, readers can still be at work when another one begins.
  void NoteLanes(const Schedule& schedule) {
    const auto is_beside = [](const ScheduleStep& step) { return step.length > 1; };
    if (std::ranges::none_of(schedule.steps, is_beside)) return;
    read_until_.resize(graph_.values.size());
    for (size_t time = 0; time < schedule.steps.size(); ++time) {
      const ScheduleStep& step = schedule.steps[time];
      const TimePoint over = static_cast<TimePoint>(time) + step.length;
      for (ValueId input : graph_.nodes[step.node].inputs) {
        read_until_[input].push_back({step.node, over});
      }
    }
  }

  // Whether another node than `id` may still read from the buffer when step `time` begins.
  bool IsReadBeside(NodeId id, const SharedBuffer& buffer, TimePoint time) const {
    if (read_until_.empty()) return false;
    return std::ranges::any_of(buffer.values, [&](ValueId value) {
      return std::ranges::any_of(read_until_[value], [&](const Reading& reading) {
        return reading.node != id && reading.over > time;
      });
    });
  }

  void Visit(NodeId id, Lifespan time) {
    const Node& node = graph_.nodes[id];
    for (size_t o = 0; o < node.outputs.size(); ++o) {
      PlaceOutput(id, static_cast<int>(o), time);
    }
    const int64_t workspace = node.kernel ? node.kernel->workspace_bytes : 0;
    if (workspace > 0 && !result_.elided[id]) {
      SharedBuffer buffer;
      buffer.bytes = workspace;
      buffer.zone = Zone::kWorkspace;
      buffer.lifespan = time;
      buffer.workspace_of = id;
      result_.of_workspace[id] = result_.buffers.push_back(std::move(buffer));
    }
  }

  void PlaceOutput(NodeId id, int output_index, Lifespan time) {
    const Node& node = graph_.nodes[id];
    const ValueId output = node.outputs[static_cast<size_t>(output_index)];
    if (state_of_next_[output].valid()) {
      Join(output, result_.of_value[state_of_next_[output]]);
      return;
    }
    if (output_index == 0 && GetOpDef(node.op).view && CanView(node.inputs[0])) {
      Join(output, result_.of_value[node.inputs[0]]);
      result_.elided[id] = true;
      return;
    }
    const int input = InPlaceInput(id, output_index, time);
    if (input < 0) return NewBuffer(output);
    result_.in_place_bytes += graph_.BytesOf(output);
    Join(output, result_.of_value[node.inputs[static_cast<size_t>(input)]]);
  }

  // A view of a state that changes in this step would change with it.
  bool CanView(ValueId input) {
    return !BufferOf(input).persistent || !changes_[result_.of_value[input]];
  }

  // The input that `output_index` may be written over, or −1.
  int InPlaceInput(NodeId id, int output_index, Lifespan time) {
    const Node& node = graph_.nodes[id];
    if (!options_.in_place || !node.kernel) return -1;
    const ValueId output = node.outputs[static_cast<size_t>(output_index)];
    for (const InPlacePair& pair : node.kernel->in_place) {
      if (pair.output != output_index) continue;
      if (static_cast<size_t>(pair.input) >= node.inputs.size()) continue;
      if (CanOverwrite(id, pair.input, output, time)) return pair.input;
    }
    return -1;
  }

  bool CanOverwrite(NodeId node_id, int input_index, ValueId output, Lifespan time) {
    const Node& node = graph_.nodes[node_id];
    const ValueId input = node.inputs[static_cast<size_t>(input_index)];
    const SharedBuffer& buffer = BufferOf(input);
    if (buffer.persistent || buffer.kept || buffer.bytes != graph_.BytesOf(output)) return false;
    if (buffer.arena != ArenaOf(graph_, output)) return false;
    if (buffer.lifespan.upper > time.upper) return false;  // read later, or an output of the graph
    if (IsReadBeside(node_id, buffer, time.lower)) return false;
    const SharedBufferId id = result_.of_value[input];
    if (has_output_[id]) return false;
    if (options_.zones_apart && graph_.values[output].zone != buffer.zone) return false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {  // no other operand lies in these bytes
      if (static_cast<int>(i) != input_index && result_.of_value[node.inputs[i]] == id)
        return false;
    }
    return std::none_of(node.outputs.begin(), node.outputs.end(),
                        [&](ValueId other) { return result_.of_value[other] == id; });
  }

  struct Reading {
    NodeId node;
    TimePoint over = 0;
  };

  const Graph& graph_;
  const Liveness& liveness_;
  BufferOptions options_;
  IdVector<ValueId, std::vector<Reading>> read_until_;  // of each value, where any has a lane
  BufferAssignment result_;
  IdVector<ValueId, bool> updated_;
  IdVector<ValueId, bool> is_output_;
  IdVector<ValueId, ValueId> state_of_next_;
  // Of the buffers so far: whether an output of the graph lies there, and whether a state that
  // changes in this step, or its next value, does.
  IdVector<SharedBufferId, bool> has_output_, changes_;
};

}  // namespace

std::vector<Bytes> TransientBytes(const BufferAssignment& assignment, TimePoint steps) {
  std::vector<Bytes> bytes(static_cast<size_t>(steps) + 1);
  for (const SharedBuffer& buffer : assignment.buffers) {
    if (buffer.persistent || buffer.arena != ArenaKind::kDevice) continue;
    bytes[static_cast<size_t>(buffer.lifespan.lower)] += RoundUp(buffer.bytes, kDefaultAlignment);
    bytes[static_cast<size_t>(buffer.lifespan.upper)] -= RoundUp(buffer.bytes, kDefaultAlignment);
  }
  std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
  bytes.pop_back();
  return bytes;
}

BufferAssignment AssignBuffers(const Graph& graph, const Schedule& schedule,
                               const Liveness& liveness, const BufferOptions& options) {
  BufferAssignment assignment = Assigner(graph, liveness, options).Run(schedule);
  if (options.parts) PutPartsInPlace(graph, schedule, options.zones_apart, &assignment);
  return assignment;
}

}  // namespace cgrun
