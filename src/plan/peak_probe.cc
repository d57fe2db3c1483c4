// The walks of liveness.cc and buffer_assignment.cc, without their graph.
#include "src/plan/peak_probe.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "src/ir/op_def.h"

namespace cgrun {

PeakProbe::PeakProbe(const Graph& graph, const BufferOptions& options, IdVector<ValueId, bool> kept)
    : options_(options), values_(graph.values.size()), values_of_graph_(graph.values.size()) {
  nodes_.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    AddNode(GetOpDef(node.op).view, node.kernel ? node.kernel->workspace_bytes : 0,
            node.kernel ? std::span(node.kernel->in_place) : std::span<const InPlacePair>());
  }
  for (ValueId id : graph.values.ids()) {
    const Value& value = graph.values[id];
    ProbeValue& probe = values_[id];
    probe.bytes = graph.BytesOf(id);
    probe.zone = value.zone;
    probe.arena = ArenaOf(graph, id);
    probe.is_fed = !value.producer.valid();
    probe.persistent = IsState(value.role) || value.role == Role::kConstant;
    const bool counts = !probe.persistent && probe.arena == ArenaKind::kDevice;
    probe.counted = counts ? RoundUp(probe.bytes, kDefaultAlignment) : 0;
    probe.kept = !kept.empty() && kept[id];
    if (probe.is_fed) fed_.push_back(id);
  }
  for (const UpdateEdge& edge : graph.updates) {
    values_[edge.state].changes = values_[edge.next].changes = true;
    values_[edge.next].stays = true;
    values_[edge.next].state = edge.state;
  }
  for (const Output& output : graph.outputs) {
    values_[output.value].is_output = values_[output.value].stays = true;
  }
}

NodeId PeakProbe::AddNode(bool is_view, Bytes workspace, std::span<const InPlacePair> in_place) {
  return nodes_.push_back(
      {is_view, RoundUp(workspace, kDefaultAlignment), {in_place.begin(), in_place.end()}});
}

ValueId PeakProbe::AddSecond(ValueId first) {
  ProbeValue second = values_[first];
  second.is_output = second.stays = second.kept = false;
  return values_.push_back(second);
}

const std::vector<Bytes>& PeakProbe::BytesOf(std::span<const ProbeRun> runs) {
  FindLives(runs);
  buffers_.clear();
  buffer_of_.resize(values_.size());
  bytes_.assign(static_cast<size_t>(steps_) + 1, 0);
  for (ValueId id : fed_) NewBuffer(id);
  for (size_t i = 0; i < runs.size(); ++i) {
    const bool is_elided = Place(runs[i], static_cast<TimePoint>(i));
    const Bytes workspace = nodes_[runs[i].node].workspace;
    if (workspace == 0 || is_elided) continue;
    bytes_[i] += workspace;
    bytes_[i + 1] -= workspace;
  }
  for (const ProbeBuffer& buffer : buffers_) {
    bytes_[static_cast<size_t>(buffer.lower)] += buffer.counted;
    bytes_[static_cast<size_t>(buffer.upper)] -= buffer.counted;
  }
  std::partial_sum(bytes_.begin(), bytes_.end(), bytes_.begin());
  bytes_.pop_back();
  return bytes_;
}

void PeakProbe::FindLives(std::span<const ProbeRun> runs) {
  steps_ = std::max<TimePoint>(1, static_cast<TimePoint>(runs.size()));
  lives_.resize(values_.size());
  for (ValueId id : fed_) lives_[id] = {0, values_[id].persistent ? steps_ : 1};
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto time = static_cast<TimePoint>(i);
    for (ValueId output : runs[i].outputs) {
      const ProbeValue& value = values_[output];
      lives_[output] = {value.kept ? 0 : time, value.stays || value.kept ? steps_ : time + 1};
    }
    for (ValueId input : runs[i].inputs) {
      lives_[input].upper = std::max(lives_[input].upper, time + 1);
    }
  }
  for (ValueId id : fed_) {
    if (values_[id].stays || values_[id].kept) lives_[id].upper = steps_;
  }
}

void PeakProbe::NewBuffer(ValueId id) {
  const ProbeValue& value = values_[id];
  buffer_of_[id] = buffers_.push_back({value.bytes, value.counted, value.zone, value.arena,
                                       value.persistent, value.changes, value.is_output, value.kept,
                                       lives_[id].lower, lives_[id].upper});
}

void PeakProbe::Join(ValueId id, SharedBufferId buffer_id) {
  ProbeBuffer& buffer = buffers_[buffer_id];
  const ProbeValue& value = values_[id];
  buffer_of_[id] = buffer_id;
  buffer.lower = std::min(buffer.lower, lives_[id].lower);
  buffer.upper = std::max(buffer.upper, lives_[id].upper);
  buffer.kept = buffer.kept || value.kept;
  buffer.changes = buffer.changes || value.changes;
  buffer.has_output = buffer.has_output || value.is_output;
}

bool PeakProbe::Place(const ProbeRun& run, TimePoint time) {
  bool is_elided = false;
  for (ValueId output : run.outputs) buffer_of_[output] = {};  // what it was the last time
  for (size_t o = 0; o < run.outputs.size(); ++o) {
    const ValueId output = run.outputs[o];
    if (values_[output].state.valid()) {
      Join(output, buffer_of_[values_[output].state]);
      continue;
    }
    if (o == 0 && nodes_[run.node].is_view) {
      const SharedBufferId viewed = buffer_of_[run.inputs[0]];
      // A view of a state that changes in this step would change with it.
      if (!(buffers_[viewed].persistent && buffers_[viewed].changes)) {
        Join(output, viewed);
        is_elided = true;
        continue;
      }
    }
    const int input = InPlaceInput(run, static_cast<int>(o), time);
    if (input < 0) {
      NewBuffer(output);
    } else {
      Join(output, buffer_of_[run.inputs[static_cast<size_t>(input)]]);
    }
  }
  return is_elided;
}

int PeakProbe::InPlaceInput(const ProbeRun& run, int output_index, TimePoint time) const {
  if (!options_.in_place) return -1;
  const ValueId output = run.outputs[static_cast<size_t>(output_index)];
  for (const InPlacePair& pair : nodes_[run.node].in_place) {
    if (pair.output != output_index) continue;
    if (static_cast<size_t>(pair.input) >= run.inputs.size()) continue;
    if (CanOverwrite(run, pair.input, output, time)) return pair.input;
  }
  return -1;
}

bool PeakProbe::CanOverwrite(const ProbeRun& run, int input_index, ValueId output,
                             TimePoint time) const {
  const SharedBufferId id = buffer_of_[run.inputs[static_cast<size_t>(input_index)]];
  const ProbeBuffer& buffer = buffers_[id];
  const ProbeValue& value = values_[output];
  if (buffer.persistent || buffer.kept || buffer.bytes != value.bytes) return false;
  if (buffer.arena != value.arena || buffer.upper > time + 1 || buffer.has_output) return false;
  if (options_.zones_apart && value.zone != buffer.zone) return false;
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    if (static_cast<int>(i) != input_index && buffer_of_[run.inputs[i]] == id) return false;
  }
  return std::ranges::none_of(run.outputs, [&](ValueId other) { return buffer_of_[other] == id; });
}

}  // namespace cgrun
