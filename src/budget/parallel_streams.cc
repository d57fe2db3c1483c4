// UseParallelStreams: asks the target what kernels take on one thread.
#include "src/budget/parallel_streams.h"

#include <algorithm>
#include <chrono>

#include "src/base/check.h"
#include "src/base/phase_times.h"
#include "src/budget/plan_once.h"
#include "src/budget/single_threaded.h"
#include "src/ir/op_def.h"
#include "src/passes/decisions.h"
#include "src/plan/cost_model.h"
#include "src/plan/stream_schedule.h"

namespace cgrun {
namespace {

constexpr double kMostSeconds = 100e-6;  // on one thread, of a node for a stream
// Operands of a node for a stream have at most so many bytes. Kernels take one thread for less than
// 128 KiB, and gain little by a second one for twice as much.
constexpr Bytes MostBytes(int threads) { return (threads <= 4 ? 256 : 128) << 10; }

Bytes OperandBytes(const Graph& graph, const Node& node) {
  Bytes bytes = 0;
  for (ValueId id : node.inputs) bytes += graph.BytesOf(id);
  for (ValueId id : node.outputs) bytes += graph.BytesOf(id);
  return bytes;
}

// The node's kernel on one thread, if the node may be in a stream. Returns nothing if it is to have
// all threads.
std::optional<KernelChoice> ChoiceForStream(const Graph& graph, const Node& node,
                                            const Target& target) {
  if (!node.kernel || !node.kernel->same_bits_single_threaded ||
      OperandBytes(graph, node) > MostBytes(node.kernel->threads)) {
    return std::nullopt;
  }
  return SingleThreadedChoice(graph, node, target);
}

// Returns whether the entry point has got parallel streams. At most `most_bytes` are alive at once
// then.
bool GiveStreams(CompiledEntry& entry, const Target& target, const LayoutOptions& layout,
                 Bytes most_bytes) {
  Graph graph = entry.graph;
  IdVector<NodeId, double> alone(graph.nodes.size(), -1);
  IdVector<NodeId, KernelChoice> plain(graph.nodes.size());
  for (NodeId id : graph.nodes.ids()) {
    Node& node = graph.nodes[id];
    if (IsTransfer(node.op)) return false;
    const auto choice = ChoiceForStream(graph, node, target);
    if (!choice) continue;
    plain[id] = std::exchange(*node.kernel, *choice);
    const double seconds = SecondsOf(graph, node);
    if (seconds <= kMostSeconds) alone[id] = seconds;
  }
  const auto schedule =
      ArrangeStreams(graph, entry.schedule, alone, {SearchedBuffers(layout), most_bytes});
  if (!schedule) return false;
  for (const ScheduleStep& step : schedule->steps) {
    const bool is_changed = !plain[step.node].kernel.empty();
    if (step.stream == 0 && is_changed) graph.nodes[step.node].kernel = plain[step.node];
  }
  entry.graph = std::move(graph);
  entry.schedule = *schedule;
  const std::vector<std::string> violations = VerifySchedule(entry.graph, entry.schedule);
  CGRUN_CHECK(violations.empty()) << "with streams: " << violations[0];
  return true;
}

}  // namespace

MemoryLayout UseParallelStreams(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                                const Target& target, const BudgetOptions& options,
                                std::vector<PassReport>& ran) {
  const PhaseTimer timer(kStreamsDecision);
  const auto start = std::chrono::steady_clock::now();
  const Bytes most = layout.lower_bound_bytes - layout.persistent_bytes;
  std::vector<CompiledEntry> arranged = entries;
  bool any = false;
  for (CompiledEntry& entry : arranged) any |= GiveStreams(entry, target, options.layout, most);
  if (any) {
    LayoutOptions as_before = options.layout;
    as_before.packs_longer = layout.planner == kLongSearch;
    MemoryLayout planned = PlanOnce(arranged, as_before);
    any = planned.arena_bytes <= layout.arena_bytes;
    if (any) {
      planned.recompute_saved_bytes = layout.recompute_saved_bytes;
      planned.cap_out_of_reach = layout.cap_out_of_reach;
      layout = std::move(planned);
      entries = std::move(arranged);
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  for (PassReport& pass : ran) {
    if (pass.name != kStreamsDecision) continue;
    pass.rounds += 1;
    pass.changed_rounds += any;
    pass.seconds += seconds.count();
  }
  return layout;
}

}  // namespace cgrun
