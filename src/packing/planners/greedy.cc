// The greedy orders: what ranks the buffers, and the loop that places them.
#include "src/packing/planners/greedy.h"

#include <algorithm>
#include <tuple>

#include "src/packing/planners/occupancy.h"

namespace cgrun {
namespace {

// In double: a rank may be rounded, the ties that this makes are settled exactly.
double Lifetime(const Buffer& buffer) {
  return static_cast<double>(buffer.upper) - static_cast<double>(buffer.lower);
}
double Area(const Buffer& buffer) { return static_cast<double>(buffer.bytes) * Lifetime(buffer); }

double RankOfBuffer(const Buffer& buffer, Order order) {
  if (order == Order::kSize) return static_cast<double>(buffer.bytes);
  if (order == Order::kArea) return Area(buffer);
  if (order == Order::kLifetime) return Lifetime(buffer);
  if (order == Order::kStart) return -static_cast<double>(buffer.lower);
  return static_cast<double>(buffer.upper);  // kEnd
}

// Returns the rank of each buffer, by id. The buffer with the larger rank goes first.
std::vector<double> Ranks(const MemoryProblem& problem, Order order, const TimeSections& sections) {
  std::vector<double> ranks;
  if (order == Order::kSection) {
    for (Bytes total : sections.LargestTotals()) ranks.push_back(static_cast<double>(total));
  } else if (order == Order::kConflicts) {
    for (int64_t count : sections.ConflictCounts()) ranks.push_back(static_cast<double>(count));
  } else {
    for (const Buffer& buffer : problem.buffers) ranks.push_back(RankOfBuffer(buffer, order));
  }
  return ranks;
}

// Marks, by id, the buffers of one part that may lie below all others.
void MarkFoundations(const MemoryProblem& problem, const std::vector<BufferId>& part,
                     std::vector<char>& marks) {
  const Buffer& any = problem[part.front()];
  TimePoint lower = any.lower, upper = any.upper;
  Bytes alignment = 1;
  for (BufferId id : part) {
    if (problem[id].offset) return;
    lower = std::min(lower, problem[id].lower);
    upper = std::max(upper, problem[id].upper);
    alignment = std::max(alignment, problem[id].alignment);
  }
  for (BufferId id : part) {
    const Buffer& buffer = problem[id];
    const bool throughout = buffer.lower == lower && buffer.upper == upper;
    marks[static_cast<size_t>(id.index)] = throughout && buffer.bytes % alignment == 0;
  }
}

// All buffers that have bytes, in the order of placement.
std::vector<BufferId> Sequence(const MemoryProblem& problem, const std::vector<double>& ranks) {
  std::vector<char> foundations(problem.buffers.size());
  std::vector<BufferId> sequence;
  for (const std::vector<BufferId>& part : SplitByTime(problem)) {
    MarkFoundations(problem, part, foundations);
    sequence.insert(sequence.end(), part.begin(), part.end());
  }
  const auto key = [&](BufferId id) {
    const Buffer& buffer = problem[id];
    const auto i = static_cast<size_t>(id.index);
    return std::make_tuple(!buffer.offset, !foundations[i], -ranks[i], -Area(buffer), -buffer.bytes,
                           buffer.lower, buffer.upper, -buffer.alignment, id);
  };
  std::sort(sequence.begin(), sequence.end(),
            [&](BufferId a, BufferId b) { return key(a) < key(b); });
  return sequence;
}

// Sets the offset of each buffer of `sequence`, as long as none ends at `most` or above. The
// largest end.
Bytes Place(const MemoryProblem& problem, const TimeSections& sections,
            const std::vector<BufferId>& sequence, Fit fit, Bytes most,
            std::vector<Bytes>& offsets) {
  Bytes peak = 0;
  Occupancy occupancy(sections.ranges(), UnitOf(problem));
  for (BufferId id : sequence) {
    const Buffer& buffer = problem[id];
    const SectionRange time = sections.ranges()[static_cast<size_t>(id.index)];
    Bytes& offset = offsets[static_cast<size_t>(id.index)];
    if (buffer.offset) {
      offset = *buffer.offset;
    } else if (fit == Fit::kFirst) {
      offset = occupancy.FirstFit(time, buffer.bytes, buffer.alignment);
    } else {
      offset = occupancy.BestFit(time, buffer.bytes, buffer.alignment);
    }
    peak = std::max(peak, offset + buffer.bytes);
    if (peak >= most) break;
    occupancy.Take(time, offset, buffer.bytes);
  }
  return peak;
}

MemoryPlan PlaceInSequenceBelow(const MemoryProblem& problem, const TimeSections& sections,
                                const std::vector<BufferId>& sequence, Fit fit, Bytes most) {
  MemoryPlan plan;
  for (const Buffer& buffer : problem.buffers) plan.offsets.push_back(buffer.offset.value_or(0));
  plan.peak_bytes = Place(problem, sections, sequence, fit, most, plan.offsets);
  plan.nodes = static_cast<int64_t>(sequence.size());
  return plan;
}

}  // namespace

std::vector<BufferId> PlacementSequence(const MemoryProblem& problem, const TimeSections& sections,
                                        Order order) {
  return Sequence(problem, Ranks(problem, order, sections));
}

MemoryPlan PlaceInSequence(const MemoryProblem& problem, const TimeSections& sections,
                           const std::vector<BufferId>& sequence, Fit fit) {
  return PlaceInSequenceBelow(problem, sections, sequence, fit, kNoLimit);
}

MemoryPlan PlaceGreedily(const MemoryProblem& problem, Order order, Fit fit) {
  const TimeSections sections(problem);
  return PlaceInSequence(problem, sections, PlacementSequence(problem, sections, order), fit);
}

// The planners of planner_list.inc, and how each of them goes.
#define GREEDY_ORDERS     \
  GREEDY_ORDER(Size)      \
  GREEDY_ORDER(Area)      \
  GREEDY_ORDER(Lifetime)  \
  GREEDY_ORDER(Section)   \
  GREEDY_ORDER(Conflicts) \
  GREEDY_ORDER(Start)     \
  GREEDY_ORDER(End)
#define GREEDY_ORDER(order)                                      \
  MemoryPlan PlanFirstFit##order(const MemoryProblem& problem) { \
    return PlaceGreedily(problem, Order::k##order, Fit::kFirst); \
  }                                                              \
  MemoryPlan PlanBestFit##order(const MemoryProblem& problem) {  \
    return PlaceGreedily(problem, Order::k##order, Fit::kBest);  \
  }
GREEDY_ORDERS
#undef GREEDY_ORDER

namespace {

struct Rule {
  PlannerFunction planner;
  Order order;
  Fit fit;
};

constexpr Rule kRules[] = {
#define GREEDY_ORDER(order)                            \
  {PlanFirstFit##order, Order::k##order, Fit::kFirst}, \
      {PlanBestFit##order, Order::k##order, Fit::kBest},
    GREEDY_ORDERS
#undef GREEDY_ORDER
};

}  // namespace

MemoryPlan PlaceBelow(const PlannerEntry& planner, const MemoryProblem& problem,
                      const TimeSections& sections, Bytes most) {
  const auto rule = std::ranges::find(kRules, planner.function, &Rule::planner);
  if (rule == std::end(kRules)) return planner.function(problem);
  return PlaceInSequenceBelow(problem, sections, PlacementSequence(problem, sections, rule->order),
                              rule->fit, most);
}

}  // namespace cgrun
