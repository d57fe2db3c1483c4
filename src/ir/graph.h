// The graph: flat vectors of values and nodes, paths, and update edges. It has no order; a Schedule
// gives it one. It is acyclic: state changes through update edges (state ← new value) alone.
#ifndef CGRUN_IR_GRAPH_H_
#define CGRUN_IR_GRAPH_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/base/flat_lists.h"
#include "src/base/host_tensor.h"
#include "src/base/ids.h"
#include "src/ir/signature.h"

namespace cgrun {

using ValueId = Id<struct ValueTag>;
using NodeId = Id<struct NodeTag>;
using PathId = Id<struct PathTag>;

enum class Role : uint8_t {
  kPlaceholder,       // fed before each step: a batch, the step counter, a learning rate
  kParameter,         // learned
  kMasterWeight,      // the f32 copy of a parameter that is kept in less precision
  kOptimizerState,    // momentum and the like
  kRunningStatistic,  // changed by the forward pass, not learned
  kConstant,          // its bytes stand in Graph::constants
  kIntermediate,
  kGradient,
  kRecurrentState,  // a step leaves it for the next one: `update` of a model file
};

// These are CalcGraph's four zones.
enum class Zone : uint8_t { kForward, kGradient, kOptimizer, kWorkspace };

enum class Phase : uint8_t { kForward, kBackward, kUpdate, kCommunication };

// Says what an entry point of a model does. kAccumulate is a training step that adds up gradients
// and updates nothing. A step of several batches consists of such entry points, and its last one is
// a kTrain.
enum class EntryKind : uint8_t { kTrain, kEval, kPredict, kAccumulate };

// The placeholder kStepCounter counts steps from 0 (int64). No model file can spell these names. If
// gradients are accumulated, it counts batches, because random numbers depend on them. Optimizers
// then have a counter of updates.
inline constexpr char kStepCounter[] = ".step";
inline constexpr char kUpdateCounter[] = ".update";
// The factors of OpId::accumulate in a batch, f64[2]: whether it goes on with a sum, its weight.
inline constexpr char kAccumulateFactors[] = ".accumulate";
// Recurrent state that an entry point keeps for itself, as ".eval.h": evaluations do not disturb
// training. Training's own is called as in the model file, and is a part of checkpoints.
inline constexpr char kOwnState = '.';
inline bool IsOwnState(std::string_view name) { return name.starts_with(kOwnState); }

std::string_view Name(EntryKind kind);
std::string_view Name(Role role);
std::string_view Name(Zone zone);
std::string_view Name(Phase phase);

// Values that live across steps: parameters, master weights, optimizer state, statistics, and what
// `update` of a model file carries on.
bool IsState(Role role);

struct Value {
  TensorType type;
  Layout layout;
  Role role = Role::kIntermediate;
  Zone zone = Zone::kForward;
  std::string name;  // unique in its graph
  SourceMark mark;
  NodeId producer;  // invalid for placeholders, state and constants
  int output_index = 0;
};

// Holds the choice of `select` for a node. The kernel does as it says.
struct KernelChoice {
  std::string kernel;  // "reference.conv"
  int threads = 1;
  int64_t workspace_bytes = 0;
  std::vector<InPlacePair> in_place;
  std::vector<SubBufferPair> sub_buffers;  // operands that may lie in others
  double seconds = 0;                      // as the target estimates it …
  bool is_measured = false;                // … or as it was measured there, or as good
  bool same_bits_single_threaded =
      false;                     // on one thread, beside other kernels, it gives the same bits
  bool widens = false;           // its workspace holds copies in f32 of what is bf16
  int thread_team = 0;           // RunSetting::thread_team
  bool single_threaded = false;  // on one thread, for a smaller workspace: …
  double slower_by = 0;          // … so many seconds longer, by estimates
};

struct Node {
  OpId op = OpId::identity;
  Attributes attributes;
  std::vector<ValueId> inputs;  // optional operands are trailing ones, absent by being left out
  std::vector<ValueId> outputs;
  Phase phase = Phase::kForward;
  PathId path;
  std::string name;  // unique in its graph: "classify.conv1"
  SourceMark mark;
  std::optional<KernelChoice> kernel;
  std::vector<FusedOperator> body;  // of OpId::fused alone
  NodeId recomputes;                // the node that this one recomputes, on purpose: never merged
};

// At the end of a step, `state` takes the value of `next`. They share bytes. In a graph that is
// planned, `state` can be the `next` of another edge: plan/update_legality.h.
struct UpdateEdge {
  ValueId state;
  ValueId next;
};

// Says how a parameter starts and learns.
struct ParameterInfo {
  std::string init = "zeros";     // zeros, ones, constant, uniform, normal, glorot_uniform, …
  std::vector<double> init_args;  // constant: value; uniform: low, high; normal: mean, deviation
  std::string init_file = {};     // file: an .npy, or a .safetensors …
  std::string init_tensor = {};   // … with the tensor of this name
  SourceMark init_mark = {};      // the place in the file that says so
  int64_t fan_in = 1;
  int64_t fan_out = 1;
  bool trainable = true;
  double learning_rate_scale = 1;
  double l1 = 0;  // added to the loss: l1·Σ|w| + l2/2·Σw²
  double l2 = 0;
};

// Holds a path as a step runs it: a sequence of operators with a mode, and how it learns. If a step
// repeats a path, each repetition is a path of its own, and the last one has the plain name.
struct Path {
  std::string name;
  int64_t repetition = 0;   // of this path, from 0 …
  int64_t repetitions = 1;  // … and how many a step runs
  PathId first;             // the first repetition, where this is another
  bool backprop = false;
  ValueId loss;  // a scalar, the mean over the batch; invalid in a forward path
  std::optional<OpId> optimizer;
  Attributes optimizer_attributes;
  ValueId learning_rate;        // a placeholder of this path's optimizer
  std::vector<ValueId> trains;  // parameters that this path's loss changes
  double clip_weights = 0;      // the largest size that these have after an update; 0: any
};

enum class OutputKind : uint8_t { kLoss, kMetric, kPrediction, kKept };

// The operator that finishes a metric's sums (MetricDef).
struct MetricUse {
  OpId op = OpId::identity;
  Attributes attributes;
  friend bool operator==(const MetricUse&, const MetricUse&) = default;
};

// A value that is read from outside after the step: it lives until the end.
struct Output {
  ValueId value;
  OutputKind kind = OutputKind::kPrediction;
  std::string name;  // "loss", "accuracy", "logits"
  PathId path;
  std::optional<MetricUse> metric = std::nullopt;  // of kMetric
};

struct Graph {
  std::string name;
  IdVector<ValueId, Value> values;
  IdVector<NodeId, Node> nodes;
  IdVector<PathId, Path> paths;
  std::vector<UpdateEdge> updates;
  std::vector<Output> outputs;
  std::map<ValueId, HostTensor> constants;
  std::map<ValueId, ParameterInfo> parameters;  // of all state
  uint64_t seed = 0;                            // of random initial values and dropout

  // Returns whether a step changes state that outlives a pass over the data.
  bool Learns() const;
  // The value of that name, or invalid.
  ValueId FindValue(std::string_view value_name) const;
  // Bytes of a bound value in its layout.
  int64_t BytesOf(ValueId id) const { return ByteSize(values[id].type, values[id].layout); }
};

// For each value, the nodes that read it.
using ReaderLists = FlatLists<ValueId, NodeId>;

// In id order; a node that reads a value twice stands once.
ReaderLists Readers(const Graph& graph);

// Returns whether each node has a larger id than those whose results it reads: then the order of
// ids is a topological one.
bool IsInOrder(const Graph& graph);

// A topological order of the nodes that prefers small ids (the order in which they were built).
// Fails a check on a cycle, which VerifyGraph reports first.
std::vector<NodeId> TopologicalOrder(const Graph& graph);

// Removes the nodes and values that are not marked as kept, and renumbers what is left in order.
// Returns the new ids of the nodes.
IdVector<NodeId, NodeId> Compact(Graph& graph, const IdVector<NodeId, bool>& keep_node,
                                 const IdVector<ValueId, bool>& keep_value);

// The same graph for a batch of `batch` samples: no shape depends on N any more.
Graph BindBatch(const Graph& graph, int64_t batch);

// Every rule that a graph keeps: ids in range, producers and outputs agree, acyclic, types as the
// operators infer them, roles and update edges legal. Returns one sentence a violation.
std::vector<std::string> VerifyGraph(const Graph& graph);

// Lists a graph, a line for each node, in topological order.
std::string ToString(const Graph& graph);

}  // namespace cgrun

#endif  // CGRUN_IR_GRAPH_H_
