// One walk along the order of the graph, which provides what each node reads.
#include "src/budget/kept_schedule.h"

#include <algorithm>
#include <limits>

#include "src/base/check.h"
#include "src/ops/recompute_node.h"
#include "src/plan/liveness.h"

namespace cgrun {
namespace {

constexpr TimePoint kShortWait = 8;  // steps between two readers: it is not let go for them

// Returns the node that `id` recomputes, through all recomputations of recomputations; else `id`
// itself.
NodeId FirstRun(const Graph& graph, NodeId id) {
  while (graph.nodes[id].recomputes.valid()) id = graph.nodes[id].recomputes;
  return id;
}

}  // namespace

KeptSchedule::KeptSchedule(const Graph& graph, const Schedule& schedule, const Target& target,
                           int threads, const BufferOptions& buffers)
    : graph_(graph),
      model_(graph, buffers),
      recomputations_(graph.nodes.size()),
      recompute_nodes_(graph.nodes.size()),
      last_soon_(graph.values.size()),
      is_read_late_(graph.values.size()),
      changed_at_(graph.values.size(), static_cast<TimePoint>(schedule.steps.size())),
      is_choice_(graph.values.size()),
      is_wanted_(graph.values.size()),
      keeping_(graph.values.size(), Keeping::kKept),
      recomputed_(graph.values.size()),
      first_of_(graph.values.size()) {
  for (const ScheduleStep& step : schedule.steps) order_.push_back(step.node);
  FindChoices(schedule, target, threads);
  size_t operands = 0;
  for (const Node& node : graph.nodes) operands += node.inputs.size() + node.outputs.size();
  room_.reserve(2 * operands);  // it does not move
}

void KeptSchedule::FindChoices(const Schedule& schedule, const Target& target, int threads) {
  std::vector<std::vector<TimePoint>> times(graph_.values.size());  // producer's, then readers'
  const IdVector<ValueId, TimePoint> updated_at = ChangeTimes(graph_, schedule);
  IdVector<ValueId, bool> stays(graph_.values.size());
  for (size_t i = 0; i < order_.size(); ++i) {
    const Node& node = graph_.nodes[order_[i]];
    for (const auto* values : {&node.inputs, &node.outputs}) {
      for (ValueId value : *values) {
        times[static_cast<size_t>(value.index)].push_back(static_cast<TimePoint>(i));
      }
    }
  }
  for (const UpdateEdge& edge : graph_.updates) stays[edge.next] = true;
  for (const Output& output : graph_.outputs) stays[output.value] = true;
  const IdVector<NodeId, bool> may_recompute = RecomputableNodes(graph_);
  for (NodeId id : graph_.nodes.ids()) {
    if (!may_recompute[id]) continue;
    recomputations_[id] = RecomputationOf(graph_, id, target, threads);
    if (const auto& recompute = recomputations_[id]) {
      recompute_nodes_[id] =
          model_.AddNode(recompute->is_view, recompute->workspace, recompute->in_place);
    }
  }
  for (ValueId id : graph_.values.ids()) {
    changed_at_[id] = updated_at[ViewedValue(graph_, id)];
    const std::vector<TimePoint>& at = times[static_cast<size_t>(id.index)];
    const Value& value = graph_.values[id];
    if (at.empty() || !value.producer.valid() || stays[id]) continue;
    const auto& recompute = recomputations_[value.producer];
    if (!recompute || (!recompute->gives_all && value.output_index != 0)) continue;
    size_t soon = at.size() - 1;
    TimePoint longest = kShortWait;
    for (size_t i = 1; i < at.size(); ++i) {
      if (at[i] - at[i - 1] <= longest) continue;
      longest = at[i] - at[i - 1];
      soon = i - 1;
    }
    last_soon_[id] = at[soon];
    is_read_late_[id] = soon + 1 < at.size();
    is_choice_[id] = true;
    choices_.push_back(id);
  }
}

void KeptSchedule::ChooseAsIn(const Graph& recomputed) {
  std::vector<int> recomputations(graph_.nodes.size());
  IdVector<ValueId, bool> is_read_by_recomputed(graph_.values.size());
  for (NodeId id : recomputed.nodes.ids()) {
    const Node& node = recomputed.nodes[id];
    if (!node.recomputes.valid()) continue;
    ++recomputations[static_cast<size_t>(FirstRun(recomputed, id).index)];
    for (ValueId input : node.inputs) {
      if (graph_.values.contains(input)) is_read_by_recomputed[input] = true;
    }
  }
  for (ValueId id : choices_) {
    const int runs = recomputations[static_cast<size_t>(graph_.values[id].producer.index)];
    const bool held = is_read_late_[id] ? runs == 0 : runs == 0 && is_read_by_recomputed[id];
    keeping_[id] = held       ? Keeping::kKept
                   : runs > 1 ? Keeping::kRecomputedForEach
                              : Keeping::kRecomputed;
  }
}

bool KeptSchedule::Make(double most_seconds) {
  model_.ForgetRecomputed();
  std::ranges::fill(recomputed_, ValueId());
  first_of_.resize(graph_.values.size());
  for (ValueId value : wanted_) is_wanted_[value] = false;
  wanted_.clear();
  runs_.clear();
  first_runs_.clear();
  room_.clear();
  provided_.clear();
  for_one_.clear();
  seconds_ = 0;
  blocked_ = {};
  most_seconds_ = most_seconds;
  for (size_t i = 0; i < order_.size(); ++i) {
    const Node& node = graph_.nodes[order_[i]];
    const auto inputs = ProvideAll(node.inputs, static_cast<TimePoint>(i));
    if (!inputs) return false;
    runs_.push_back({order_[i], *inputs, node.outputs});
    first_runs_.push_back({});
    for (ValueId value : for_one_) recomputed_[value] = {};
    for_one_.clear();
  }
  return true;
}

bool KeptSchedule::MakePossible() {
  while (!Make(std::numeric_limits<double>::infinity())) {
    if (!blocked_.valid()) return false;
    for (ValueId output : graph_.nodes[blocked_].outputs) keeping_[output] = Keeping::kKept;
  }
  return true;
}

// Returns the values that are read for `values` at a step of the graph's order; nothing where one
// cannot be provided.
std::optional<std::span<const ValueId>> KeptSchedule::ProvideAll(const std::vector<ValueId>& values,
                                                                 TimePoint time) {
  const size_t begin = provided_.size();  // a stack: providing one can need others
  bool is_same = true;
  for (ValueId value : values) {
    const ValueId provided = Provide(value, time);
    if (!provided.valid()) return std::nullopt;
    provided_.push_back(provided);
    is_same = is_same && provided == value;
  }
  const std::span<ValueId> provided = std::span(provided_).subspan(begin);
  if (!is_same) ReadFromOneRun(values, provided);
  const bool is_full = !is_same && IsFull(values.size());
  const size_t place = room_.size();
  if (!is_same && !is_full) room_.insert(room_.end(), provided.begin(), provided.end());
  provided_.resize(begin);
  if (is_same) return values;
  if (is_full) return std::nullopt;
  return std::span(room_).subspan(place);
}

// If a reader takes two results of a node, it reads both from the same recomputation.
void KeptSchedule::ReadFromOneRun(const std::vector<ValueId>& values,
                                  std::span<ValueId> provided) const {
  for (size_t i = 0; i < values.size(); ++i) {
    if (provided[i] != values[i] || !recomputed_[values[i]].valid()) continue;
    for (size_t k = 0; k < values.size(); ++k) {
      const bool is_of_same =
          graph_.values[values[k]].producer == graph_.values[values[i]].producer;
      if (is_of_same && provided[k] != values[k]) provided[i] = recomputed_[values[i]];
    }
  }
}

ValueId KeptSchedule::Provide(ValueId value, TimePoint time) {
  if (!is_choice_[value] || time <= last_soon_[value]) return value;
  if (!is_wanted_[value]) wanted_.push_back(value);
  is_wanted_[value] = true;
  if (keeping_[value] == Keeping::kKept) return value;
  if (!recomputed_[value].valid() && !Recompute(graph_.values[value].producer, time)) return {};
  return recomputed_[value];
}

bool KeptSchedule::Recompute(NodeId id, TimePoint time) {
  const Recomputation& recompute = *recomputations_[id];
  seconds_ += recompute.seconds;
  if (seconds_ > most_seconds_) return false;
  const auto inputs = ProvideAll(recompute.inputs, time);
  if (!inputs) return false;
  for (size_t i = 0; i < inputs->size(); ++i) {
    const bool is_first = (*inputs)[i] == recompute.inputs[i];
    if (is_first && changed_at_[recompute.inputs[i]] <= time) {
      blocked_ = id;
      return false;
    }
  }
  const std::vector<ValueId>& firsts = graph_.nodes[id].outputs;
  const size_t count = recompute.gives_all ? firsts.size() : 1;
  if (IsFull(count)) return false;
  const size_t begin = room_.size();
  for (size_t o = 0; o < count; ++o) {
    recomputed_[firsts[o]] = model_.AddRecomputed(firsts[o]);
    first_of_.push_back(firsts[o]);
    room_.push_back(recomputed_[firsts[o]]);
    if (keeping_[firsts[o]] == Keeping::kRecomputedForEach) for_one_.push_back(firsts[o]);
  }
  runs_.push_back({recompute_nodes_[id], *inputs, std::span(room_).subspan(begin)});
  first_runs_.push_back(id);
  return true;
}

// Decisions add nodes in their order: the last run comes first, as earlier ones are for it.
std::vector<NodeId> KeptSchedule::IdsInPlan() const {
  std::vector<NodeId> ids(runs_.size());
  auto next = static_cast<int64_t>(graph_.nodes.size());
  for (size_t i = runs_.size(); i-- > 0;) {
    ids[i] = first_runs_[i].valid() ? NodeId(next++) : runs_[i].node;
  }
  return ids;
}

RematPlan KeptSchedule::Plan() const {
  const std::vector<NodeId> ids = IdsInPlan();
  IdVector<ValueId, std::vector<NodeId>> readers(first_of_.size());
  for (size_t i = 0; i < runs_.size(); ++i) {
    for (ValueId input : runs_[i].inputs) {
      if (readers[input].empty() || readers[input].back() != ids[i]) {
        readers[input].push_back(ids[i]);
      }
    }
  }
  RematPlan plan;
  for (size_t i = runs_.size(); i-- > 0;) {
    if (!first_runs_[i].valid()) continue;
    RecomputeDecision decision{{first_runs_[i]}, {}};
    for (ValueId output : runs_[i].outputs) {
      for (NodeId reader : readers[output]) {
        if (std::ranges::find(decision.readers, reader) == decision.readers.end()) {
          decision.readers.push_back(reader);
        }
      }
    }
    CGRUN_CHECK(!decision.readers.empty()) << "something runs again for nobody";
    plan.recompute.push_back(std::move(decision));
  }
  return plan;
}

Schedule KeptSchedule::ScheduleOfPlan() const {
  Schedule schedule;
  for (NodeId id : IdsInPlan()) schedule.steps.push_back({id, 0});
  return schedule;
}

}  // namespace cgrun
