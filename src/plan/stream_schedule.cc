// ArrangeStreams: each node, in the order of the schedule, takes the stream in which it can begin
// first. If too many bytes would be alive at a step, the nodes side by side there are set one by
// one. The rest is then tried anew.
#include "src/plan/stream_schedule.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace cgrun {
namespace {

constexpr double kLeastSeconds = 0.3e-6;  // that any node takes
constexpr double kHandover = 0.5e-6;      // until another stream sees what was written
constexpr double kForkSeconds = 3e-6;     // the cost of a stretch in streams
constexpr double kLeastSaved = 30e-6;     // that makes one worth it, …
constexpr double kLeastSavedPart = 0.1;   // … and a part of its time
constexpr int kMostTries = 64;

class Arranger {
 public:
  Arranger(const Graph& graph, const Schedule& schedule, const IdVector<NodeId, double>& seconds)
      : graph_(graph), schedule_(schedule), seconds_(seconds) {
    predecessors_.resize(graph.nodes.size());
    const Dependencies dependencies = DependenciesOf(graph);
    for (NodeId node : graph.nodes.ids()) {
      for (NodeId after : dependencies.successors[node]) predecessors_[after].push_back(node);
    }
    whole_.resize(graph.nodes.size());
    for (NodeId node : graph.nodes.ids()) whole_[node] = seconds[node] < 0;
    placed_.resize(graph.nodes.size());
  }

  // From now on these nodes have no other beside them.
  void KeepWhole(std::span<const NodeId> nodes) {
    for (NodeId node : nodes) whole_[node] = true;
  }

  // Returns nothing where no stretch is worth it.
  std::optional<Schedule> Arrange() {
    Schedule arranged;
    bool helps = false;
    for (size_t i = 0; i < schedule_.steps.size();) {
      size_t end = i;
      while (end < schedule_.steps.size() && !whole_[schedule_.steps[end].node]) ++end;
      const auto stretch = std::span(schedule_.steps).subspan(i, end - i);
      if (Place(stretch)) {
        helps = true;
        AddPlaced(stretch, arranged);
      } else {
        arranged.steps.insert(arranged.steps.end(), stretch.begin(), stretch.end());
      }
      if (end < schedule_.steps.size()) arranged.steps.push_back(schedule_.steps[end]);
      i = end + 1;
    }
    return helps ? std::optional(arranged) : std::nullopt;
  }

 private:
  struct Placed {
    const ScheduleStep* stretch = nullptr;  // of which stretch: its first step
    int stream = 0;
    double begin = 0, end = 0;
  };

  // Returns whether streams make the stretch quicker by enough.
  bool Place(std::span<const ScheduleStep> stretch) {
    std::array<double, kParallelStreams> free{};
    double one_by_one = 0, last = 0;
    for (const ScheduleStep& step : stretch) {
      Placed& placed = placed_[step.node];
      placed = {stretch.data(), 0, 0, 0};
      std::array<double, kParallelStreams> begins = free;
      for (NodeId before : predecessors_[step.node]) {
        const Placed& other = placed_[before];
        if (other.stretch != stretch.data()) continue;
        for (int stream = 0; stream < kParallelStreams; ++stream) {
          double& begin = begins[static_cast<size_t>(stream)];
          begin = std::max(begin, other.end + (other.stream == stream ? 0 : kHandover));
        }
      }
      const double seconds = std::max(seconds_[step.node], kLeastSeconds);
      const auto first = std::ranges::min_element(begins);
      placed.stream = static_cast<int>(first - begins.begin());
      placed.begin = *first;
      placed.end = *first + seconds;
      free[static_cast<size_t>(placed.stream)] = placed.end;
      one_by_one += seconds;
      last = std::max(last, placed.end);
    }
    const double saved = one_by_one - last - kForkSeconds;
    return saved >= std::max(kLeastSaved, kLeastSavedPart * one_by_one);
  }

  void AddPlaced(std::span<const ScheduleStep> stretch, Schedule& arranged) const {
    std::vector<NodeId> order;
    for (const ScheduleStep& step : stretch) order.push_back(step.node);
    std::ranges::stable_sort(order, {}, [&](NodeId node) { return placed_[node].begin; });
    for (size_t i = 0; i < order.size(); ++i) {
      const Placed& placed = placed_[order[i]];
      size_t over = i + 1;
      while (over < order.size() && placed_[order[over]].begin < placed.end) ++over;
      arranged.steps.push_back({order[i], placed.stream + 1, static_cast<int64_t>(over - i)});
    }
  }

  const Graph& graph_;
  const Schedule& schedule_;
  const IdVector<NodeId, double>& seconds_;
  IdVector<NodeId, std::vector<NodeId>> predecessors_;
  IdVector<NodeId, bool> whole_;
  IdVector<NodeId, Placed> placed_;
};

// Those that run in streams at a step.
std::vector<NodeId> NodesBesideAt(const Schedule& schedule, int64_t time) {
  std::vector<NodeId> nodes;
  for (int64_t i = 0; i <= time; ++i) {
    const ScheduleStep& step = schedule.steps[static_cast<size_t>(i)];
    if (step.stream > 0 && i + step.length > time) nodes.push_back(step.node);
  }
  return nodes;
}

}  // namespace

std::optional<Schedule> ArrangeStreams(const Graph& graph, const Schedule& schedule,
                                       const IdVector<NodeId, double>& seconds,
                                       const StreamScheduleOptions& options) {
  Arranger arranger(graph, schedule, seconds);
  AliasModel model(graph, options.buffers);
  for (int tries = 0; tries < kMostTries; ++tries) {
    const std::optional<Schedule> arranged = arranger.Arrange();
    if (!arranged) return std::nullopt;
    const std::vector<Bytes>& bytes = model.CountBytes(RunsOf(graph, *arranged));
    const auto most = std::ranges::max_element(bytes);
    if (*most <= options.most_bytes) return arranged;
    const std::vector<NodeId> beside = NodesBesideAt(*arranged, most - bytes.begin());
    if (beside.empty()) return std::nullopt;
    arranger.KeepWhole(beside);
  }
  return std::nullopt;
}

}  // namespace cgrun
