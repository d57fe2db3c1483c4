// SpreadTransfers: transfers go on in a thread of their own while the step runs.
#include "src/budget/swap.h"

#include <algorithm>
#include <map>
#include <vector>

#include "src/ir/op_def.h"

namespace cgrun {
namespace {

class Spreader {
 public:
  Spreader(const Graph& graph, const Schedule& schedule, Bytes most, const BufferOptions& buffers)
      : graph_(graph), model_(graph, buffers), readers_(Readers(graph)) {
    for (const ScheduleStep& step : schedule.steps) order_.push_back(step.node);
    bytes_ = BytesOf(order_);
    most_ = std::max(most, *std::ranges::max_element(bytes_));
  }

  Schedule Run() {
    Tighten();
    for (NodeId id : order_) {
      if (graph_.nodes[id].op == OpId::swap_out) outs_.push_back(id);
      if (graph_.nodes[id].op == OpId::swap_in_wait) in_waits_.push_back(id);
    }
    SpreadReads();
    SpreadWrites();
    return ScheduleOf(order_);
  }

 private:
  using Order = std::vector<NodeId>;

  std::vector<Bytes> BytesOf(const Order& order) {
    return model_.CountBytes(RunsOf(graph_, ScheduleOf(order)));
  }

  static Schedule ScheduleOf(const Order& order) {
    Schedule schedule;
    for (NodeId id : order) schedule.steps.push_back({id, 0});
    return schedule;
  }

  size_t PlaceOf(NodeId id) const {
    return static_cast<size_t>(std::ranges::find(order_, id) - order_.begin());
  }

  // `id` to where `to` steps stand in front of it, if no more is alive then than may be.
  void Move(NodeId id, size_t to) {
    const size_t from = PlaceOf(id);
    if (from == to) return;
    Order order = order_;
    order.erase(order.begin() + static_cast<int64_t>(from));
    order.insert(order.begin() + static_cast<int64_t>(to), id);
    std::vector<Bytes> bytes = BytesOf(order);
    if (*std::ranges::max_element(bytes) > most_) return;
    order_ = std::move(order);
    bytes_ = std::move(bytes);
  }

  // Writes begin right behind what they write, and waits for reads end right in front of who reads.
  void Tighten() {
    for (NodeId id : Order(order_)) {
      const Node& node = graph_.nodes[id];
      if (node.op == OpId::swap_out) {
        const NodeId producer = graph_.values[node.inputs[0]].producer;
        Move(id, producer.valid() ? PlaceOf(producer) + 1 : 0);
      } else if (node.op == OpId::swap_in_wait) {
        size_t first = order_.size();
        for (NodeId reader : readers_[node.outputs[0]]) first = std::min(first, PlaceOf(reader));
        Move(id, first - 1);
      }
    }
  }

  // When each step of the order begins, were no transfer ever waited for; then the end.
  std::vector<double> Times() const {
    std::vector<double> times = {0};
    for (NodeId id : order_) {
      const Node& node = graph_.nodes[id];
      times.push_back(times.back() + (IsTransfer(node.op) ? 0 : SecondsOf(graph_, node)));
    }
    return times;
  }

  NodeId Find(OpId op, ValueId file) const {
    const auto found = std::ranges::find_if(readers_[file], [&](NodeId reader) {
      return graph_.nodes[reader].op == op && FileOf(graph_.nodes[reader]) == file;
    });
    return *found;
  }

  // From the last one on: each is to have arrived when it is waited for, and when the next begins.
  void SpreadReads() {
    const std::vector<double> times = Times();
    std::map<NodeId, double> begins;
    double next = times.back();
    for (size_t i = in_waits_.size(); i-- > 0;) {
      const NodeId in = graph_.values[graph_.nodes[in_waits_[i]].inputs[0]].producer;
      next = std::min(next, times[PlaceOf(in_waits_[i])]) - SecondsOf(graph_, graph_.nodes[in]);
      begins[in] = next;
    }
    // The first to be read takes what memory there is first.
    for (NodeId wait : in_waits_) {
      const NodeId in = graph_.values[graph_.nodes[wait].inputs[0]].producer;
      const Node& node = graph_.nodes[in];
      const std::vector<double> now = Times();
      const size_t earliest = PlaceOf(graph_.values[node.inputs[1]].producer) + 1;
      const Bytes more = RoundUp(graph_.BytesOf(node.outputs[0]), kDefaultAlignment);
      size_t place = PlaceOf(in);
      while (place > earliest && now[place] > begins.at(in) && bytes_[place - 1] + more <= most_) {
        --place;
      }
      Move(in, place);
    }
  }

  // From the first one on: each begins when it can and those before it are done.
  void SpreadWrites() {
    double done = 0;
    for (NodeId out : outs_) {
      const std::vector<double> times = Times();
      const Node& node = graph_.nodes[out];
      done = std::max(done, times[PlaceOf(out)]) + SecondsOf(graph_, node);
      const NodeId wait = Find(OpId::swap_out_wait, node.outputs[0]);
      const size_t end = PlaceOf(Find(OpId::swap_in, node.outputs[0]));
      const Bytes more = RoundUp(graph_.BytesOf(node.inputs[0]), kDefaultAlignment);
      size_t place = PlaceOf(wait);
      while (place + 1 < end && times[place + 1] < done && bytes_[place + 1] + more <= most_) {
        ++place;
      }
      Move(wait, place);
    }
  }

  const Graph& graph_;
  AliasModel model_;
  const ReaderLists readers_;
  Order order_;
  std::vector<Bytes> bytes_;  // alive at each step of order_
  Bytes most_ = 0;
  Order outs_, in_waits_;
};

}  // namespace

int64_t CountSwaps(const Graph& graph) {
  return std::ranges::count_if(graph.nodes,
                               [](const Node& node) { return node.op == OpId::swap_out; });
}

Schedule SpreadTransfers(const Graph& graph, const Schedule& schedule, Bytes most,
                         const BufferOptions& buffers) {
  if (CountSwaps(graph) == 0) return schedule;
  return Spreader(graph, schedule, most, buffers).Run();
}

void UndoSwap(Graph& graph, Schedule& schedule, NodeId out) {
  const ValueId file = graph.nodes[out].outputs[0];
  const ValueId written = graph.nodes[out].inputs[0];
  IdVector<NodeId, bool> keep_node(graph.nodes.size(), true);
  IdVector<ValueId, bool> keep_value(graph.values.size(), true);
  for (NodeId id : graph.nodes.ids()) {
    const Node& node = graph.nodes[id];
    if (!IsTransfer(node.op) || FileOf(node) != file) continue;
    keep_node[id] = false;
    for (ValueId output : node.outputs) keep_value[output] = false;
    if (node.op != OpId::swap_in_wait) continue;
    const ValueId back = node.outputs[0];
    for (Node& reader : graph.nodes) std::ranges::replace(reader.inputs, back, written);
  }
  const IdVector<NodeId, NodeId> renumbered = Compact(graph, keep_node, keep_value);
  std::erase_if(schedule.steps, [&](const ScheduleStep& step) { return !keep_node[step.node]; });
  for (ScheduleStep& step : schedule.steps) step.node = renumbered[step.node];
}

}  // namespace cgrun
