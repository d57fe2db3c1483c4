// The bytes that are alive at each step, asked for many variants of one schedule: what
// ComputeLiveness and AssignBuffers find out of a graph, from arrays that are built once. It
// follows their rules for views, updates and in-place operators; peak_probe_test.cc holds it to
// them.
#ifndef CGRUN_PLAN_PEAK_PROBE_H_
#define CGRUN_PLAN_PEAK_PROBE_H_

#include <span>
#include <vector>

#include "src/plan/buffer_assignment.h"

namespace cgrun {

// A node of a variant's schedule. It does what `node` does (of the graph, or from AddNode), with
// these values, which are the graph's or from AddSecond.
struct ProbeRun {
  NodeId node;
  std::span<const ValueId> inputs;
  std::span<const ValueId> outputs;
};

class PeakProbe {
 public:
  // `kept`: as in Liveness; empty where nothing is.
  PeakProbe(const Graph& graph, const BufferOptions& options, IdVector<ValueId, bool> kept = {});

  // Another node, with this kernel.
  NodeId AddNode(bool is_view, Bytes workspace, std::span<const InPlacePair> in_place);
  // A second result, of the type of `first`.
  ValueId AddSecond(ValueId first);
  // Forgets all second results.
  void ForgetSeconds() { values_.resize(values_of_graph_); }

  // TransientBytes of the variant; valid until the next call.
  const std::vector<Bytes>& BytesOf(std::span<const ProbeRun> runs);

 private:
  struct ProbeNode {
    bool is_view = false;
    Bytes workspace = 0;  // as it counts: aligned
    InlineVector<InPlacePair, 4> in_place;
  };

  struct ProbeValue {
    Bytes bytes = 0;
    Bytes counted = 0;  // aligned; 0 for what is not of the device's transient arena
    Zone zone = Zone::kForward;
    ArenaKind arena = ArenaKind::kDevice;
    bool is_fed = false;      // nothing produces it
    bool persistent = false;  // state and constants
    bool changes = false;     // a state with an update, or that
    bool is_output = false;   // of the graph
    bool stays = false;       // to the end of the step
    bool kept = false;
    ValueId state;  // which this is the update of
  };

  struct ProbeBuffer {
    Bytes bytes = 0;
    Bytes counted = 0;
    Zone zone = Zone::kForward;
    ArenaKind arena = ArenaKind::kDevice;
    bool persistent = false;
    bool changes = false;
    bool has_output = false;
    bool kept = false;
    TimePoint lower = 0;
    TimePoint upper = 0;
  };

  void FindLives(std::span<const ProbeRun> runs);
  void NewBuffer(ValueId id);
  void Join(ValueId id, SharedBufferId buffer);
  // Whether the node is a view that needs nothing of its own.
  bool Place(const ProbeRun& run, TimePoint time);
  int InPlaceInput(const ProbeRun& run, int output_index, TimePoint time) const;
  bool CanOverwrite(const ProbeRun& run, int input_index, ValueId output, TimePoint time) const;

  const BufferOptions options_;
  IdVector<NodeId, ProbeNode> nodes_;
  IdVector<ValueId, ProbeValue> values_;
  size_t values_of_graph_ = 0;
  std::vector<ValueId> fed_;
  // Of the variant that is looked at.
  TimePoint steps_ = 1;
  IdVector<ValueId, Lifespan> lives_;
  IdVector<ValueId, SharedBufferId> buffer_of_;
  IdVector<SharedBufferId, ProbeBuffer> buffers_;
  std::vector<Bytes> bytes_;
};

}  // namespace cgrun

#endif  // CGRUN_PLAN_PEAK_PROBE_H_
