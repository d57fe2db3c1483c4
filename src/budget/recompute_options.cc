// Options at the peak, one a buffer; then those that go together.
#include "src/budget/recompute_options.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "src/ir/op_def.h"
#include "src/ops/recompute_node.h"
#include "src/ops/swap.h"

namespace cgrun {
namespace {

constexpr double kSecondsOfTransfer = 50e-6;  // of one byte: to wake its thread, and the disk
constexpr size_t kMostRecomputed = 1000;      // nodes that are recomputed for one buffer

bool WritesOut(const Node& node) {
  return node.op == OpId::swap_out || node.op == OpId::swap_out_wait;
}

// An option, and the buffers that must stay for it.
struct Candidate {
  RecomputeOption option;
  SharedBufferId buffer;
  std::set<SharedBufferId> reads;
};

class PeakAnalysis {
 public:
  PeakAnalysis(const Graph& graph, const Schedule& schedule, const Target& target,
               const RecomputeLimits& limits)
      : graph_(graph),
        target_(target),
        limits_(limits),
        assignment_(AssignBuffers(graph, schedule, limits.buffers)),
        readers_(Readers(graph)),
        may_recompute_(RecomputableNodes(graph)),
        time_(graph.nodes.size()),
        changed_at_(ChangeTimes(graph, schedule)),
        is_kept_(graph.values.size()),
        run_for_(graph.nodes.size()),
        reads_for_(graph.nodes.size()) {
    for (size_t i = 0; i < schedule.steps.size(); ++i) {
      time_[schedule.steps[i].node] = static_cast<TimePoint>(i);
    }
    for (const UpdateEdge& edge : graph.updates) is_kept_[edge.next] = true;
    for (const Output& output : graph.outputs) is_kept_[output.value] = true;
    const std::vector<Bytes> bytes = TransientBytes(assignment_);
    peak_ = std::max_element(bytes.begin(), bytes.end()) - bytes.begin();
  }

  std::vector<Candidate> Run() {
    std::vector<Candidate> candidates;
    for (SharedBufferId id : assignment_.buffers.ids()) {
      const std::vector<ValueId> wanted = WantedBehindPeak(id);
      if (wanted.empty()) continue;
      Begin(id, wanted);
      if (limits_.recompute && Recompute(wanted)) candidates.push_back(candidate_);
      Begin(id, wanted);
      if (limits_.swap && Swap(wanted)) candidates.push_back(std::move(candidate_));
    }
    return candidates;
  }

 private:
  // Returns the values of the buffer that lie there at the peak and are wanted behind it. If one of
  // them must stay, the result is empty.
  std::vector<ValueId> WantedBehindPeak(SharedBufferId id) const {
    const SharedBuffer& buffer = assignment_.buffers[id];
    if (buffer.persistent || buffer.workspace_of.valid() || !Spans(buffer.lifespan)) return {};
    if (buffer.arena != ArenaKind::kDevice) return {};
    std::vector<ValueId> wanted;
    for (ValueId value : buffer.values) {
      if (is_kept_[value] || TouchedAtPeak(value) || IsOnItsWay(value)) return {};
      if (Spans(assignment_.liveness.values[value])) wanted.push_back(value);
    }
    return wanted;
  }

  void Begin(SharedBufferId id, const std::vector<ValueId>& wanted) {
    ++candidates_;
    candidate_ = {};
    candidate_.buffer = id;
    candidate_.option.bytes = RoundUp(assignment_.buffers[id].bytes, kDefaultAlignment);
    first_use_ = assignment_.liveness.steps;
    for (ValueId value : wanted) AddReaders(value);
  }

  bool Recompute(const std::vector<ValueId>& wanted) {
    return std::ranges::all_of(wanted, [&](ValueId value) { return Provide(value); }) &&
           !candidate_.option.decision.nodes.empty();
  }

  // Swaps one value only, since other values in its buffer are views. A value that has just come
  // back, or is about to be written, is not swapped.
  bool Swap(const std::vector<ValueId>& wanted) {
    if (wanted.size() != 1) return false;
    const Value& value = graph_.values[wanted[0]];
    if (value.producer.valid() && IsTransfer(graph_.nodes[value.producer].op)) return false;
    if (!CanSwap(target_, value.type, value.layout, limits_.threads)) return false;
    const auto bytes = static_cast<double>(graph_.BytesOf(wanted[0]));
    const TransferSpeed& speed = limits_.swap->speed;
    RecomputeOption& option = candidate_.option;
    option.swap = {wanted[0], std::move(option.decision.readers),
                   kSecondsOfTransfer + bytes / speed.write_bytes_per_second,
                   kSecondsOfTransfer + bytes / speed.read_bytes_per_second};
    option.decision = {};
    option.seconds = limits_.swap->share * (option.swap->write_seconds + option.swap->read_seconds);
    return option.seconds <= limits_.seconds;
  }

  // Returns whether the lifespan begins before the peak and ends behind it.
  bool Spans(const Lifespan& life) const { return life.lower < peak_ && life.upper > peak_ + 1; }

  // Returns whether the node at the peak writes or reads it.
  bool TouchedAtPeak(ValueId value) const {
    const NodeId producer = graph_.values[value].producer;
    if (producer.valid() && time_[producer] == peak_) return true;
    return std::any_of(readers_[value].begin(), readers_[value].end(),
                       [&](NodeId reader) { return time_[reader] == peak_; });
  }

  // Returns whether it is still to be written to the swap file behind the peak.
  bool IsOnItsWay(ValueId value) const {
    return std::ranges::any_of(readers_[value], [&](NodeId reader) {
      return time_[reader] >= peak_ && WritesOut(graph_.nodes[reader]);
    });
  }

  void AddReaders(ValueId value) {
    std::vector<NodeId>& readers = candidate_.option.decision.readers;
    for (NodeId reader : readers_[value]) {
      if (time_[reader] < peak_) continue;
      first_use_ = std::min(first_use_, time_[reader]);
      if (std::exchange(reads_for_[reader], candidates_) != candidates_) readers.push_back(reader);
    }
  }

  // Returns whether the value is there when late readers need it, because other readers keep it.
  bool IsThere(ValueId value) {
    const SharedBufferId buffer = assignment_.of_value[value];
    if (buffer == candidate_.buffer || changed_at_[ViewedValue(graph_, value)] <= first_use_)
      return false;
    if (assignment_.buffers[buffer].persistent) return !graph_.values[value].producer.valid();
    if (!Spans(assignment_.liveness.values[value])) return false;
    candidate_.reads.insert(buffer);
    return true;
  }

  // Holds a node that is to be recomputed, behind the nodes that provide its inputs.
  struct Waiting {
    NodeId node;
    const Recomputation* recompute = nullptr;
    size_t provided = 0;  // inputs
  };

  // Has the value recomputed, behind the recomputations that it needs. Returns false if that cannot
  // be, or is too dear.
  bool Provide(ValueId value) {
    std::vector<Waiting> waiting;
    if (!Recompute(value, waiting)) return false;
    while (!waiting.empty()) {
      Waiting& last = waiting.back();
      if (last.provided == last.recompute->inputs.size()) {
        candidate_.option.decision.nodes.push_back(last.node);
        waiting.pop_back();
        continue;
      }
      const ValueId input = last.recompute->inputs[last.provided++];
      if (!IsThere(input) && !Recompute(input, waiting)) return false;
    }
    return true;
  }

  // Has the producer of the value wait for its inputs, unless it is recomputed already.
  bool Recompute(ValueId value, std::vector<Waiting>& waiting) {
    const NodeId id = graph_.values[value].producer;
    if (!id.valid()) return false;
    if (run_for_[id] == candidates_) return true;
    const std::optional<Recomputation>& recompute = RecomputationFor(id);
    if (!recompute || (!recompute->gives_all && graph_.values[value].output_index != 0))
      return false;
    candidate_.option.seconds += recompute->seconds;
    const size_t nodes = candidate_.option.decision.nodes.size() + waiting.size();
    if (candidate_.option.seconds > limits_.seconds || nodes >= kMostRecomputed) return false;
    run_for_[id] = candidates_;
    waiting.push_back({id, &*recompute});
    return true;
  }

  // Targets are asked once.
  const std::optional<Recomputation>& RecomputationFor(NodeId id) {
    const auto [found, is_new] = recomputations_.try_emplace(id);
    if (is_new && may_recompute_[id]) {
      found->second = RecomputationOf(graph_, id, target_, limits_.threads);
    }
    return found->second;
  }

  const Graph& graph_;
  const Target& target_;
  const RecomputeLimits& limits_;
  BufferAssignment assignment_;
  ReaderLists readers_;
  IdVector<NodeId, bool> may_recompute_;
  IdVector<NodeId, TimePoint> time_;
  IdVector<ValueId, TimePoint> changed_at_;  // of states
  IdVector<ValueId, bool> is_kept_;          // to the end of the step
  TimePoint peak_ = 0;
  std::map<NodeId, std::optional<Recomputation>> recomputations_;
  Candidate candidate_;     // that is being looked at
  int64_t candidates_ = 0;  // so far
  // These hold the last candidate for which a node is recomputed, and the last one of which it is a
  // late reader.
  IdVector<NodeId, int64_t> run_for_, reads_for_;
  TimePoint first_use_ = 0;  // behind the peak, of what its buffer holds
};

// The new nodes that write to the swap file, by the step in front of which they stand: behind the
// producer of what they write, and behind its last reader. `place` holds the steps of `before`.
std::vector<std::vector<NodeId>> WritesBehind(const Graph& graph, const Schedule& before,
                                              const IdVector<NodeId, size_t>& place,
                                              const ReaderLists& readers) {
  const size_t steps = before.steps.size();
  std::vector<std::vector<NodeId>> behind(steps + 1);
  for (const OpId op : {OpId::swap_out, OpId::swap_out_wait}) {
    for (NodeId id : graph.nodes.ids()) {
      const Node& node = graph.nodes[id];
      if (node.op != op || place[id] < steps) continue;
      const ValueId written = node.inputs[op == OpId::swap_out ? 0 : 1];
      const NodeId producer = graph.values[written].producer;
      size_t in_front_of = producer.valid() ? std::min(place[producer] + 1, steps) : 0;
      if (op == OpId::swap_out_wait) {
        for (NodeId reader : readers[written]) {
          if (place[reader] < steps) in_front_of = std::max(in_front_of, place[reader] + 1);
        }
      }
      behind[in_front_of].push_back(id);
    }
  }
  return behind;
}

}  // namespace

std::vector<RecomputeOption> RecomputeOptionsAtPeak(const Graph& graph, const Schedule& schedule,
                                                    const Target& target,
                                                    const RecomputeLimits& limits) {
  std::vector<Candidate> candidates = PeakAnalysis(graph, schedule, target, limits).Run();
  std::stable_sort(candidates.begin(), candidates.end(), [&](const auto& a, const auto& b) {
    const auto worth = [&](const RecomputeOption& one, const RecomputeOption& other) {
      return std::pow(static_cast<double>(one.bytes), limits.emphasis) * other.seconds;
    };
    return worth(a.option, b.option) > worth(b.option, a.option);
  });
  std::vector<RecomputeOption> options;
  std::set<SharedBufferId> gone, needed;
  for (Candidate& candidate : candidates) {
    const bool is_needed = needed.contains(candidate.buffer) || gone.contains(candidate.buffer);
    const bool needs_gone = std::any_of(candidate.reads.begin(), candidate.reads.end(),
                                        [&](SharedBufferId id) { return gone.contains(id); });
    if (is_needed || needs_gone) continue;
    gone.insert(candidate.buffer);
    needed.insert(candidate.reads.begin(), candidate.reads.end());
    options.push_back(std::move(candidate.option));
  }
  return options;
}

std::optional<Recomputation> RecomputationOf(const Graph& graph, NodeId id, const Target& target,
                                             int threads) {
  const Node& node = graph.nodes[id];
  if (!node.kernel) return std::nullopt;
  const RecomputeNode recompute = RecomputeNodeOf(node);
  const bool is_view = GetOpDef(recompute.op).view;
  if (recompute.op == node.op) {
    return Recomputation{
        recompute.inputs,     true, SecondsOf(graph, node), is_view, node.kernel->workspace_bytes,
        node.kernel->in_place};
  }
  const auto option = OptionOfRecompute(graph, node, recompute, target, threads);
  if (!option) return std::nullopt;
  return Recomputation{recompute.inputs,
                       false,
                       SecondsWithOption(SignatureOfRecompute(graph, node, recompute), *option),
                       is_view,
                       option->workspace_bytes,
                       option->in_place};
}

Schedule WithRecomputations(const Graph& graph, const Schedule& before) {
  const ReaderLists readers = Readers(graph);
  IdVector<NodeId, size_t> place(graph.nodes.size(), before.steps.size());
  IdVector<NodeId, bool> is_new(graph.nodes.size(), true);
  for (size_t i = 0; i < before.steps.size(); ++i) {
    place[before.steps[i].node] = i;
    is_new[before.steps[i].node] = false;
  }
  const IdVector<ValueId, TimePoint> changed_at = ChangeTimes(graph, before);
  std::vector<std::vector<NodeId>> in_front(before.steps.size() + 1);
  std::vector<std::vector<NodeId>> behind = WritesBehind(graph, before, place, readers);
  for (size_t i = graph.nodes.size(); i-- > 0;) {  // readers of a new node are newer
    const NodeId id(static_cast<int>(i));
    if (!is_new[id] || WritesOut(graph.nodes[id])) continue;
    for (ValueId output : graph.nodes[id].outputs) {
      for (NodeId reader : readers[output]) place[id] = std::min(place[id], place[reader]);
    }
    // Another option of the same round can have taken the reader away that was first.
    for (ValueId input : graph.nodes[id].inputs) {
      const TimePoint changes = changed_at[ViewedValue(graph, input)];
      place[id] = std::min(place[id], static_cast<size_t>(changes));
    }
    in_front[place[id]].push_back(id);
  }
  Schedule after;
  for (size_t i = 0; i <= before.steps.size(); ++i) {
    for (NodeId id : behind[i]) after.steps.push_back({id, 0});
    for (size_t k = in_front[i].size(); k-- > 0;) after.steps.push_back({in_front[i][k], 0});
    if (i < before.steps.size()) after.steps.push_back(before.steps[i]);
  }
  return after;
}

}  // namespace cgrun
