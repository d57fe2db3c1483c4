// The rules first, then one walk along a schedule that applies them.
#include "src/plan/alias_model.h"

#include <algorithm>
#include <numeric>

#include "src/base/check.h"
#include "src/ir/op_def.h"
#include "src/plan/reach.h"

namespace cgrun {
namespace {

// Lifetime: a produced value lives while its producer runs, then until its last reader is over.
// An output of the step lives to its end. A value that is kept between runs always lives, since a
// run may read it without making it.
Lifespan LifespanOfOutput(const AliasFacts& facts, Lifespan producer, TimePoint steps) {
  return {facts.kept ? 0 : producer.lower, facts.stays || facts.kept ? steps : producer.upper};
}

// State and constants always live. Other feeds are there from the first step on.
Lifespan LifespanOfFed(const AliasFacts& facts, TimePoint steps) {
  return {0, facts.persistent || facts.stays || facts.kept ? steps : 1};
}

// View: it lies in what it views, and its node copies nothing. If the step updates a viewed state,
// the view would change with it, so the node makes a copy.
bool CanView(const AliasFacts& viewed) { return !(viewed.persistent && viewed.changes); }

// In place: the output lies in the bytes of the input.
bool CanOverwrite(const AliasFacts& input, const AliasFacts& output, bool zones_apart) {
  if (input.persistent) return false;  // the next step reads it
  if (input.kept) return false;        // the next run may read it
  if (input.stays) return false;       // it is read after the step
  if (input.bytes != output.bytes) return false;
  if (input.arena != output.arena) return false;
  return !zones_apart || input.zone == output.zone;  // a buffer counts in one zone
}

}  // namespace

std::vector<NodeRun> RunsOf(const Graph& graph, const Schedule& schedule) {
  std::vector<NodeRun> runs;
  runs.reserve(schedule.steps.size());
  for (const ScheduleStep& step : schedule.steps) {
    const Node& node = graph.nodes[step.node];
    runs.push_back({step.node, node.inputs, node.outputs, step.length});
  }
  return runs;
}

AliasModel::AliasModel(const Graph& graph, const BufferOptions& options)
    : options_(options), values_(graph.values.size()), values_of_graph_(graph.values.size()) {
  nodes_.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    AddNode(GetOpDef(node.op).view, node.kernel ? node.kernel->workspace_bytes : 0,
            node.kernel ? std::span(node.kernel->in_place) : std::span<const InPlacePair>());
  }
  const IdVector<ValueId, bool> kept =
      options.incremental ? KeptBetweenRuns(graph, ComputeReach(graph)) : IdVector<ValueId, bool>();
  for (ValueId id : graph.values.ids()) {
    const Value& value = graph.values[id];
    AliasValue& alias = values_[id];
    alias.facts.bytes = graph.BytesOf(id);
    alias.facts.zone = value.zone;
    alias.facts.arena = ArenaOf(graph, id);
    alias.facts.persistent = IsState(value.role) || value.role == Role::kConstant;
    alias.facts.kept = options.incremental && kept[id];
    alias.is_fed = !value.producer.valid();
    if (alias.is_fed) fed_.push_back(id);
  }
  for (const UpdateEdge& edge : graph.updates) {
    values_[edge.state].facts.changes = values_[edge.next].facts.changes = true;
    values_[edge.next].facts.stays = true;
    values_[edge.next].state = edge.state;
  }
  for (const Output& output : graph.outputs) values_[output.value].facts.stays = true;
}

NodeId AliasModel::AddNode(bool is_view, Bytes workspace, std::span<const InPlacePair> in_place) {
  return nodes_.push_back({is_view, workspace, in_place});
}

ValueId AliasModel::AddRecomputed(ValueId first) {
  AliasValue second = values_[first];
  second.facts.stays = second.facts.kept = false;
  return values_.push_back(second);
}

void AliasModel::FindLifespans(std::span<const NodeRun> runs) {
  steps_ = std::max<TimePoint>(1, static_cast<TimePoint>(runs.size()));
  has_streams_ = false;
  lifespans_.resize(values_.size(), {0, 1});
  for (ValueId id : fed_) lifespans_[id] = LifespanOfFed(values_[id].facts, steps_);
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto time = static_cast<TimePoint>(i);
    const Lifespan running{time, time + runs[i].length};
    has_streams_ = has_streams_ || runs[i].length > 1;
    for (ValueId output : runs[i].outputs) {
      lifespans_[output] = LifespanOfOutput(values_[output].facts, running, steps_);
    }
    for (ValueId input : runs[i].inputs) {
      lifespans_[input].upper = std::max(lifespans_[input].upper, running.upper);
    }
  }
}

void AliasModel::FindSets(std::span<const NodeRun> runs) {
  FindLifespans(runs);
  if (has_streams_) NoteStreams(runs);
  in_place_bytes_ = 0;
  sets_.clear();
  set_of_.resize(values_.size());
  for (ValueId id : fed_) NewSet(id);
  for (size_t i = 0; i < runs.size(); ++i) Place(runs[i], static_cast<TimePoint>(i));
}

const std::vector<Bytes>& AliasModel::CountBytes(std::span<const NodeRun> runs) {
  FindSets(runs);
  bytes_.assign(static_cast<size_t>(steps_) + 1, 0);
  const auto add = [&](Bytes bytes, TimePoint lower, TimePoint upper) {
    bytes_[static_cast<size_t>(lower)] += bytes;
    bytes_[static_cast<size_t>(upper)] -= bytes;
  };
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto time = static_cast<TimePoint>(i);
    const Bytes workspace = WorkspaceOf(runs[i]);
    if (workspace > 0) add(RoundUp(workspace, kDefaultAlignment), time, time + runs[i].length);
  }
  for (const AliasSet& set : sets_) {
    add(set.facts.Transient(), set.lifespan.lower, set.lifespan.upper);
  }
  std::partial_sum(bytes_.begin(), bytes_.end(), bytes_.begin());
  bytes_.pop_back();
  return bytes_;
}

// In parallel streams a reader can still be at work when a node of the other stream begins.
void AliasModel::NoteStreams(std::span<const NodeRun> runs) {
  before_.resize(values_.size());
  readings_ = FlatLists<ValueId, Reading>(values_.size());
  for (const NodeRun& run : runs) {
    for (ValueId input : run.inputs) readings_.Count(input);
  }
  readings_.Allot();
  for (size_t i = 0; i < runs.size(); ++i) {
    const TimePoint over = static_cast<TimePoint>(i) + runs[i].length;
    for (ValueId input : runs[i].inputs) readings_.Add(input, {runs[i].node, over});
  }
}

void AliasModel::NewSet(ValueId id) {
  if (has_streams_) before_[id] = {};
  set_of_[id] = sets_.push_back({values_[id].facts, lifespans_[id], id});
}

void AliasModel::Join(ValueId id, AliasSetId set_id) {
  AliasSet& set = sets_[set_id];
  const AliasFacts& facts = values_[id].facts;
  CGRUN_CHECK(facts.bytes == set.facts.bytes) << "an alias has another size";
  set_of_[id] = set_id;
  if (has_streams_) before_[id] = set.last;
  set.last = id;
  set.lifespan.lower = std::min(set.lifespan.lower, lifespans_[id].lower);
  set.lifespan.upper = std::max(set.lifespan.upper, lifespans_[id].upper);
  set.facts.changes = set.facts.changes || facts.changes;
  set.facts.stays = set.facts.stays || facts.stays;
  set.facts.kept = set.facts.kept || facts.kept;
}

// Update: the next value of a state lies in the bytes of the state, where the next step looks for
// it. The schedule runs its producer behind all readers of the state.
void AliasModel::Place(const NodeRun& run, TimePoint time) {
  for (ValueId output : run.outputs) set_of_[output] = {};  // forget an earlier schedule
  for (size_t o = 0; o < run.outputs.size(); ++o) {
    const ValueId output = run.outputs[o];
    if (values_[output].state.valid()) {
      Join(output, set_of_[values_[output].state]);
      continue;
    }
    if (o == 0 && IsElided(run)) {
      Join(output, set_of_[run.inputs[0]]);
      continue;
    }
    const int input = InPlaceInput(run, static_cast<int>(o), time);
    if (input < 0) {
      NewSet(output);
      continue;
    }
    in_place_bytes_ += values_[output].facts.bytes;
    Join(output, set_of_[run.inputs[static_cast<size_t>(input)]]);
  }
}

bool AliasModel::IsElidedView(const NodeRun& run) const {
  return !values_[run.outputs[0]].state.valid() && CanView(sets_[set_of_[run.inputs[0]]].facts);
}

// The input that the output is written over, or −1.
int AliasModel::InPlaceInput(const NodeRun& run, int output, TimePoint time) const {
  if (!options_.in_place) return -1;
  for (const InPlacePair& pair : nodes_[run.node].in_place) {
    if (pair.output != output || static_cast<size_t>(pair.input) >= run.inputs.size()) continue;
    const AliasSetId id = set_of_[run.inputs[static_cast<size_t>(pair.input)]];
    if (IsReadBehind(run, sets_[id], time) || !MayOverwrite(run, pair)) continue;
    const auto lies_there = [&](ValueId other) { return set_of_[other] == id; };
    if (std::ranges::none_of(run.outputs, lies_there)) return pair.input;
  }
  return -1;
}

// A kernel names pairs of all its operands, and a node may have fewer. No other operand of the node
// lies in the bytes, as the kernel would read it after writing there.
bool AliasModel::MayOverwrite(const NodeRun& run, const InPlacePair& pair) const {
  const auto input = static_cast<size_t>(pair.input), output = static_cast<size_t>(pair.output);
  if (input >= run.inputs.size() || output >= run.outputs.size()) return false;
  if (values_[run.outputs[output]].state.valid()) return false;  // it lies in its state
  const AliasSetId id = set_of_[run.inputs[input]];
  if (!CanOverwrite(sets_[id].facts, values_[run.outputs[output]].facts, options_.zones_apart)) {
    return false;
  }
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    if (i != input && set_of_[run.inputs[i]] == id) return false;
  }
  return true;
}

// Returns whether another node reads the set when this one is over, or may still read it when this
// one begins.
bool AliasModel::IsReadBehind(const NodeRun& run, const AliasSet& set, TimePoint time) const {
  if (set.lifespan.upper > time + run.length) return true;
  if (!has_streams_) return false;
  for (ValueId value = set.last; value.valid(); value = before_[value]) {
    const auto is_beside = [&](const Reading& reading) {
      return reading.node != run.node && reading.over > time;
    };
    if (std::ranges::any_of(readings_[value], is_beside)) return true;
  }
  return false;
}

}  // namespace cgrun
