// The rungs, and what a search at one of them tells of the plan.
#include "src/plan/planners/ladder.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "src/base/random.h"
#include "src/plan/planners/greedy.h"

namespace cgrun {
namespace {

Bytes RoundUpToMultiple(Bytes bytes, Bytes grain) { return (bytes + grain - 1) / grain * grain; }

constexpr uint64_t kVariation = 2;  // key of random numbers
constexpr uint64_t kSpread = 20;    // a place is off by up to one of so many parts of an order
constexpr uint64_t kRoundsALimit = 2;
constexpr Order kOrders[] = {Order::kLifetime, Order::kArea, Order::kSection, Order::kConflicts};

// What divides every end in a plan whose buffers rest on each other.
Bytes GrainOf(const MemoryProblem& problem) {
  Bytes grain = 0;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.bytes > 0)
      grain = std::gcd(grain, std::gcd(buffer.bytes, buffer.offset.value_or(0)));
  }
  // Offsets are such ends, rounded up.
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.bytes > 0 && grain % buffer.alignment != 0)
      grain = std::gcd(grain, buffer.alignment);
  }
  return std::max<Bytes>(grain, 1);
}

}  // namespace

Ladder::Ladder(const MemoryProblem& problem, const TimeSections& sections)
    : problem_(problem),
      search_(problem, sections),
      grain_(GrainOf(problem)),
      nodes_(2 * static_cast<int64_t>(problem.buffers.size())) {
  for (Order order : kOrders) orders_.push_back(PlacementSequence(problem, sections, order));
}

bool Ladder::Fits(const MemoryProblem& problem, const TimeSections& sections) {
  constexpr int64_t kMostCells = 1'000'000;
  if (problem.buffers.size() > TreeSearch::kMostBuffers) return false;
  int64_t cells = 0;
  for (const SectionRange& range : sections.ranges()) cells += range.end - range.begin;
  return cells <= kMostCells;
}

void Ladder::Climb(Bytes target, MemoryPlan& plan, Effort& effort) {
  plan.lower_bound_bytes = RoundUpToMultiple(plan.lower_bound_bytes, grain_);
  for (const std::vector<BufferId>& order : orders_) {
    const std::vector<BufferId> varied = Varied(order);
    for (Bytes capacity : Rungs(target, plan)) {
      const bool open = plan.lower_bound_bytes <= capacity && capacity < plan.peak_bytes;
      if (!open || effort.over()) continue;
      Search(capacity, varied, plan, effort);
    }
  }
  ++round_;
  if (round_ % kRoundsALimit == 0) nodes_ *= 2;
}

// The order itself in the first round; then one in which buffers are a few places off.
std::vector<BufferId> Ladder::Varied(const std::vector<BufferId>& order) const {
  if (round_ == 0) return order;
  std::vector<std::pair<uint64_t, BufferId>> keys;
  for (uint64_t place = 0; place < order.size(); ++place) {
    const uint64_t shift = RandomBits(kVariation, round_, place) % (order.size() / kSpread + 1);
    keys.push_back({place + shift, order[place]});
  }
  std::stable_sort(keys.begin(), keys.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<BufferId> varied;
  for (const auto& key : keys) varied.push_back(key.second);
  return varied;
}

std::vector<Bytes> Ladder::Rungs(Bytes target, const MemoryPlan& plan) const {
  const Bytes low = std::max(target / grain_ * grain_, plan.lower_bound_bytes);
  const Bytes high = plan.peak_bytes - grain_;
  std::vector<Bytes> rungs;
  for (const Bytes part : {8, 4, 2}) {
    rungs.push_back(low + (high - low) / part / grain_ * grain_);
  }
  rungs.insert(rungs.begin(), low);
  if (problem_.capacity && *problem_.capacity < high) rungs.push_back(*problem_.capacity);
  rungs.push_back(high);
  std::erase_if(rungs, [&](Bytes rung) { return rung < low || rung > high; });
  rungs.erase(std::unique(rungs.begin(), rungs.end()), rungs.end());
  return rungs;
}

void Ladder::Search(Bytes capacity, const std::vector<BufferId>& order, MemoryPlan& plan,
                    Effort& effort) {
  const SearchOutcome outcome = search_.Run(capacity, order, nodes_, effort);
  if (outcome == SearchOutcome::kFound) {
    plan.offsets = search_.offsets();
    plan.peak_bytes = PeakBytes(problem_, plan.offsets);
  } else if (outcome == SearchOutcome::kNone) {
    plan.lower_bound_bytes =
        std::max(plan.lower_bound_bytes, RoundUpToMultiple(capacity + 1, grain_));
  }
}

}  // namespace cgrun
