// The alias model: which values of a scheduled graph share bytes, and how long these bytes live.
// Liveness, buffers, orders and searches all ask this model, so that the rules stand here alone.
// Sub-buffers are not part of it: sub_buffers.h moves whole buffers afterwards.
//
//   step       0     1     2     3
//   x          ████████                y is a view of x, so it lies in the bytes of x.
//   y                ████████          z is written over y, which nothing reads behind step 2.
//   z                      ████████    All three are one alias set, which lives for all four steps.
//
// The model copies what the rules ask into flat arrays once. After that it can look at many
// schedules of the graph, also at ones with nodes and values that the graph lacks.
#ifndef CGRUN_PLAN_ALIAS_MODEL_H_
#define CGRUN_PLAN_ALIAS_MODEL_H_

#include <span>
#include <vector>

#include "src/base/arena_kind.h"
#include "src/ir/graph.h"
#include "src/packing/memory_problem.h"
#include "src/plan/schedule.h"

namespace cgrun {

// Steps of a schedule, half-open: written at step `lower`, read until step `upper` begins.
struct Lifespan {
  TimePoint lower = 0;
  TimePoint upper = 0;
};

struct BufferOptions {
  bool in_place = true;
  bool zones_apart = false;  // nothing in place across zones
  bool sub_buffers = false;  // with sub-buffers, where no more is alive at the peak then
  bool incremental = false;  // for a program that runs in part (KeptBetweenRuns())
};

// Holds the facts that the rules need about a value, or about all values of an alias set together.
struct AliasFacts {
  Bytes bytes = 0;
  Zone zone = Zone::kForward;
  ArenaKind arena = ArenaKind::kDevice;
  bool persistent = false;  // state and constants
  bool changes = false;     // a state that the step updates, or its next value
  bool stays = false;       // to the end of the step: an output of the graph, or a next value
  bool kept = false;        // between runs of a program that runs in part

  // Aligned bytes in the device's transient region.
  Bytes Transient() const {
    const bool is_transient = !persistent && arena == ArenaKind::kDevice;
    return is_transient ? RoundUp(bytes, kDefaultAlignment) : 0;
  }
};

// One node of a schedule, with the values that it reads and writes there.
struct NodeRun {
  NodeId node;
  std::span<const ValueId> inputs;
  std::span<const ValueId> outputs;
  TimePoint length = 1;  // ScheduleStep::length
};

// The nodes of a schedule with the operands that they have in the graph, which outlives the runs.
std::vector<NodeRun> RunsOf(const Graph& graph, const Schedule& schedule);

using AliasSetId = Id<struct AliasSetTag>;

// Values with the same bytes. Size, zone and arena are those of the first value.
struct AliasSet {
  AliasFacts facts;
  Lifespan lifespan;
  ValueId last;  // that joined
};

class AliasModel {
 public:
  // `graph` has legal updates, and it outlives the model.
  explicit AliasModel(const Graph& graph, const BufferOptions& options = {});

  // Adds a node to the graph's. The pairs outlive the model.
  NodeId AddNode(bool is_view, Bytes workspace, std::span<const InPlacePair> in_place);
  // Adds a value with the type of `first`, as recomputation gives it.
  ValueId AddRecomputed(ValueId first);
  void ForgetRecomputed() { values_.resize(values_of_graph_); }

  // The three calls below replace what was found for an earlier schedule.
  void FindLifespans(std::span<const NodeRun> runs);
  // Finds the lifespans and the alias sets.
  void FindSets(std::span<const NodeRun> runs);
  // Finds them, too, and returns the transient bytes that are alive at each step.
  const std::vector<Bytes>& CountBytes(std::span<const NodeRun> runs);

  // Values that no node produces, in the order of their ids.
  std::span<const ValueId> fed() const { return fed_; }
  TimePoint steps() const { return steps_; }  // at least 1, so that what is fed lives
  const IdVector<ValueId, Lifespan>& lifespans() const { return lifespans_; }
  const IdVector<AliasSetId, AliasSet>& sets() const { return sets_; }
  AliasSetId SetOf(ValueId value) const { return set_of_[value]; }
  Bytes in_place_bytes() const { return in_place_bytes_; }  // saved by in-place nodes

  // Returns whether the node is a view that runs nothing. Its operands must have their sets.
  bool IsElided(const NodeRun& run) const { return nodes_[run.node].is_view && IsElidedView(run); }
  Bytes WorkspaceOf(const NodeRun& run) const {
    return IsElided(run) ? 0 : nodes_[run.node].workspace;
  }
  std::span<const InPlacePair> InPlacePairs(NodeId node) const { return nodes_[node].in_place; }
  // Returns whether the output of `pair` can lie in the bytes of the input in some schedule: in any
  // in which nothing reads these bytes any more.
  bool MayOverwrite(const NodeRun& run, const InPlacePair& pair) const;

 private:
  struct AliasNode {
    bool is_view = false;
    Bytes workspace = 0;
    std::span<const InPlacePair> in_place;
  };

  struct AliasValue {
    AliasFacts facts;
    bool is_fed = false;
    ValueId state;  // this value is its next one
  };

  struct Reading {
    NodeId node;
    TimePoint over = 0;  // the step that begins when the node is over
  };

  bool IsElidedView(const NodeRun& run) const;
  void NoteStreams(std::span<const NodeRun> runs);
  void NewSet(ValueId id);
  void Join(ValueId id, AliasSetId set);
  void Place(const NodeRun& run, TimePoint time);
  int InPlaceInput(const NodeRun& run, int output, TimePoint time) const;
  bool IsReadBehind(const NodeRun& run, const AliasSet& set, TimePoint time) const;

  const BufferOptions options_;
  IdVector<NodeId, AliasNode> nodes_;
  IdVector<ValueId, AliasValue> values_;
  size_t values_of_graph_ = 0;
  std::vector<ValueId> fed_;
  // The members below describe the schedule that was looked at last.
  TimePoint steps_ = 1;
  IdVector<ValueId, Lifespan> lifespans_;
  IdVector<ValueId, AliasSetId> set_of_;
  IdVector<AliasSetId, AliasSet> sets_;
  // With parallel streams alone: who reads a value, and which value joined the same set before it.
  bool has_streams_ = false;
  FlatLists<ValueId, Reading> readings_;
  IdVector<ValueId, ValueId> before_;
  Bytes in_place_bytes_ = 0;
  std::vector<Bytes> bytes_;
};

}  // namespace cgrun

#endif  // CGRUN_PLAN_ALIAS_MODEL_H_
