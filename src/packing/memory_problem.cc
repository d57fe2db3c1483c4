// Finds the faults, the lower bound and the parts of a packing problem without solving it.
#include "src/packing/memory_problem.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace cgrun {
namespace {

using Field = ProblemFault::Field;

bool IsPowerOfTwo(Bytes value) {
  return value > 0 && std::has_single_bit(static_cast<uint64_t>(value));
}

std::string Number(int64_t value) { return std::to_string(value); }

// Collects up to a limit.
class FaultList {
 public:
  explicit FaultList(size_t limit) : limit_(limit) {}
  size_t size() const { return faults_.size(); }
  bool full() const { return faults_.size() >= limit_; }
  void Add(ProblemFault fault) {
    if (!full()) faults_.push_back(std::move(fault));
  }
  std::vector<ProblemFault> Take() { return std::move(faults_); }

 private:
  size_t limit_;
  std::vector<ProblemFault> faults_;
};

void CheckFixedOffset(const MemoryProblem& problem, BufferId id, FaultList& faults) {
  const Buffer& buffer = problem[id];
  if (!buffer.offset) return;
  const std::string name = DisplayName(problem, id);
  const std::string offset = Number(*buffer.offset);
  if (*buffer.offset < 0) {
    faults.Add({id,
                {},
                Field::kOffset,
                "the offset " + offset + " of " + name + " is negative",
                "an arena begins at offset 0"});
  } else if (IsPowerOfTwo(buffer.alignment) && *buffer.offset % buffer.alignment != 0) {
    faults.Add({id,
                {},
                Field::kOffset,
                "the offset " + offset + " of " + name + " is not a multiple of its alignment " +
                    Number(buffer.alignment),
                "move it to a multiple, or lower the alignment"});
  }
}

void CheckBuffer(const MemoryProblem& problem, BufferId id, FaultList& faults) {
  const Buffer& buffer = problem[id];
  const bool is_sound =
      buffer.bytes >= 0 && buffer.upper > buffer.lower && IsPowerOfTwo(buffer.alignment);
  if (is_sound) return CheckFixedOffset(problem, id, faults);
  const std::string name = DisplayName(problem, id);
  if (buffer.bytes < 0) {
    faults.Add({id,
                {},
                Field::kBytes,
                "the size " + Number(buffer.bytes) + " of " + name + " is negative",
                "a size is a number of bytes, 0 or more"});
  }
  if (buffer.upper <= buffer.lower) {
    faults.Add({id,
                {},
                Field::kLifespan,
                "the lifespan [" + Number(buffer.lower) + ", " + Number(buffer.upper) + ") of " +
                    name + " is empty",
                "the upper end is the first step in which the buffer is no longer needed: it must "
                "be greater than the lower end"});
  }
  if (!IsPowerOfTwo(buffer.alignment)) {
    faults.Add(
        {id,
         {},
         Field::kAlignment,
         "the alignment " + Number(buffer.alignment) + " of " + name + " is not a power of two",
         "use 1, 2, 4, … 64 …"});
  }
  CheckFixedOffset(problem, id, faults);
}

// No planner goes beyond the fixed buffers, every other size and its padding, and one rounding up
// of the last end: that must be representable.
void CheckTotal(const MemoryProblem& problem, FaultList& faults) {
  __extension__ using Wide = __int128;
  Wide total = 0, fixed_end = 0;
  Wide largest_alignment = 1;
  BufferId culprit;  // the first that is too much
  for (size_t i = 0; i < problem.buffers.size() && !culprit.valid(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    const Wide bytes = std::max<Bytes>(buffer.bytes, 0);
    if (buffer.offset) {
      fixed_end = std::max(fixed_end, std::max<Bytes>(*buffer.offset, 0) + bytes);
    } else {
      total += bytes + std::max<Bytes>(buffer.alignment, 1) - 1;
    }
    largest_alignment = std::max<Wide>(largest_alignment, buffer.alignment);
    const Wide end = fixed_end + total + largest_alignment;
    if (end > std::numeric_limits<Bytes>::max()) culprit = BufferId(static_cast<int64_t>(i));
  }
  if (!culprit.valid()) return;
  faults.Add({culprit,
              {},
              Field::kProblem,
              "the buffers together, with their padding, exceed what 64-bit offsets can address",
              "is a size, an alignment or an offset mistyped?"});
}

// Fixed buffers that share bytes in a step.
void CheckFixedOverlaps(const MemoryProblem& problem, FaultList& faults) {
  std::vector<BufferId> fixed;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    const bool alive = buffer.bytes > 0 && buffer.lower < buffer.upper;
    if (buffer.offset && alive) fixed.push_back(BufferId(static_cast<int64_t>(i)));
  }
  std::stable_sort(fixed.begin(), fixed.end(),
                   [&](BufferId a, BufferId b) { return problem[a].lower < problem[b].lower; });
  for (size_t i = 0; i < fixed.size() && !faults.full(); ++i) {
    const Buffer& a = problem[fixed[i]];
    for (size_t j = i + 1; j < fixed.size() && problem[fixed[j]].lower < a.upper; ++j) {
      const Buffer& b = problem[fixed[j]];
      if (*a.offset >= *b.offset + b.bytes || *b.offset >= *a.offset + a.bytes) continue;
      const auto [first, second] = std::minmax(fixed[i], fixed[j]);
      faults.Add({first, second, Field::kOffset,
                  "the fixed offsets of " + DisplayName(problem, first) + " and " +
                      DisplayName(problem, second) + " make them share bytes in step " +
                      Number(b.lower),
                  "move one of them, or leave its offset open"});
    }
  }
}

// A buffer comes or goes.
struct Event {
  TimePoint time;
  bool begins;  // ends come first: lifespans are half-open
  Bytes rounded;
  Bytes padding;

  auto place() const { return std::pair(time, begins); }
};

// Sorts by counting if there are fewer steps than events, as in the plan of a graph.
void SortByTime(std::vector<Event>& events) {
  if (events.empty()) return;
  const auto [first, last] = std::ranges::minmax(events, {}, &Event::time);
  const auto steps = static_cast<uint64_t>(last.time) - static_cast<uint64_t>(first.time);
  if (steps >= events.size()) {
    std::ranges::sort(events, {}, &Event::place);
    return;
  }
  const auto place_of = [begin = first.time](const Event& event) {
    return 2 * static_cast<size_t>(event.time - begin) + event.begins;
  };
  std::vector<uint32_t> next(2 * steps + 3);
  for (const Event& event : events) ++next[place_of(event) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Event> sorted(events.size());
  for (const Event& event : events) sorted[next[place_of(event)]++] = event;
  events = std::move(sorted);
}

// Returns the largest difference of the rounded sum and the largest padding at any step. It looks
// only at buffers that are aligned to `alignment` or more.
Bytes BoundOfAlignment(const MemoryProblem& problem, Bytes alignment) {
  std::vector<Event> events;
  events.reserve(2 * problem.buffers.size());
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.bytes == 0 || buffer.alignment < alignment) continue;
    const Bytes rounded = RoundUp(buffer.bytes, alignment);
    events.push_back({buffer.lower, true, rounded, rounded - buffer.bytes});
    events.push_back({buffer.upper, false, rounded, rounded - buffer.bytes});
  }
  SortByTime(events);
  std::map<Bytes, int64_t> paddings;  // counts the buffers alive that have it; the last is no 0
  Bytes sum = 0, bound = 0;
  for (const Event& event : events) {
    sum += event.begins ? event.rounded : -event.rounded;
    paddings[event.padding] += event.begins ? 1 : -1;
    while (!paddings.empty() && paddings.rbegin()->second == 0) {
      paddings.erase(std::prev(paddings.end()));
    }
    if (!paddings.empty()) bound = std::max(bound, sum - paddings.rbegin()->first);
  }
  return bound;
}

}  // namespace

std::string DisplayName(const MemoryProblem& problem, BufferId id) {
  const std::string& name = problem[id].name;
  return name.empty() ? "buffer " + std::to_string(id.index) : "'" + name + "'";
}

std::vector<ProblemFault> ProblemFaults(const MemoryProblem& problem, size_t limit) {
  FaultList faults(limit);
  for (size_t i = 0; i < problem.buffers.size() && !faults.full(); ++i) {
    CheckBuffer(problem, BufferId(static_cast<int64_t>(i)), faults);
  }
  const size_t before = faults.size();
  CheckTotal(problem, faults);
  if (faults.size() == before) CheckFixedOverlaps(problem, faults);
  return faults.Take();
}

Bytes LowerBound(const MemoryProblem& problem) {
  std::set<Bytes> alignments;
  Bytes bound = 0;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.bytes == 0) continue;
    alignments.insert(buffer.alignment);
    if (buffer.offset) bound = std::max(bound, *buffer.offset + buffer.bytes);
  }
  for (Bytes alignment : alignments) {
    bound = std::max(bound, BoundOfAlignment(problem, alignment));
  }
  return bound;
}

Bytes PeakBytes(const MemoryProblem& problem, const std::vector<Bytes>& offsets) {
  Bytes peak = 0;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Bytes bytes = problem.buffers[i].bytes;
    if (bytes > 0) peak = std::max(peak, offsets[i] + bytes);
  }
  return peak;
}

std::vector<std::vector<BufferId>> SplitByTime(const MemoryProblem& problem) {
  std::vector<BufferId> ids;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (problem.buffers[i].bytes > 0) ids.push_back(BufferId(static_cast<int64_t>(i)));
  }
  std::stable_sort(ids.begin(), ids.end(),
                   [&](BufferId a, BufferId b) { return problem[a].lower < problem[b].lower; });
  std::vector<std::vector<BufferId>> groups;
  TimePoint end = 0;  // of the last group
  for (BufferId id : ids) {
    if (groups.empty() || problem[id].lower >= end) {
      groups.emplace_back();
      end = problem[id].upper;
    }
    groups.back().push_back(id);
    end = std::max(end, problem[id].upper);
  }
  for (std::vector<BufferId>& group : groups) std::sort(group.begin(), group.end());
  return groups;
}

}  // namespace cgrun
