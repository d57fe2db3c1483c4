// The independent check of memory plans.
#include "src/packing/validator.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>

namespace cgrun {
namespace {

using Kind = Violation::Kind;

std::string Range(int64_t lower, int64_t upper) {
  return "[" + std::to_string(lower) + ", " + std::to_string(upper) + ")";
}

class Validator {
 public:
  Validator(const MemoryProblem& problem, const MemoryPlan& plan, size_t limit)
      : problem_(problem), plan_(plan), limit_(limit) {}

  std::vector<Violation> Run() {
    if (!CheckOffsetCount()) return std::move(violations_);
    for (size_t i = 0; i < problem_.buffers.size(); ++i) CheckBuffer(i);
    CheckOverlaps();
    CheckPeak();
    CheckBound();
    return std::move(violations_);
  }

 private:
  bool full() const { return violations_.size() >= limit_; }

  // Returns the end of buffer `i`. A plan under test may have any offset, so the sum is clamped.
  Bytes End(size_t i) const {
    Bytes end = 0;
    if (!__builtin_add_overflow(plan_.offsets[i], problem_.buffers[i].bytes, &end)) return end;
    return std::numeric_limits<Bytes>::max();
  }

  void Add(Kind kind, BufferId first, BufferId second, std::string message) {
    if (!full()) violations_.push_back({kind, first, second, std::move(message)});
  }

  // "'a' (steps [0, 7), bytes [64, 128))"
  std::string Describe(size_t i) const {
    const Buffer& buffer = problem_.buffers[i];
    return DisplayName(problem_, BufferId(static_cast<int64_t>(i))) + " (steps " +
           Range(buffer.lower, buffer.upper) + ", bytes " + Range(plan_.offsets[i], End(i)) + ")";
  }

  void AddFor(Kind kind, size_t i, const std::string& what) {
    Add(kind, BufferId(static_cast<int64_t>(i)), {}, Describe(i) + " " + what);
  }

  bool CheckOffsetCount() {
    if (plan_.offsets.size() == problem_.buffers.size()) return true;
    Add(Kind::kOffsetCount, {}, {},
        "the plan has " + std::to_string(plan_.offsets.size()) + " offsets for " +
            std::to_string(problem_.buffers.size()) + " buffers");
    return false;
  }

  void CheckBuffer(size_t i) {
    const Buffer& buffer = problem_.buffers[i];
    const Bytes offset = plan_.offsets[i];
    if (offset < 0) AddFor(Kind::kNegativeOffset, i, "begins below the arena");
    if (offset % buffer.alignment != 0) {
      AddFor(Kind::kAlignment, i, "is not aligned to " + std::to_string(buffer.alignment));
    }
    if (buffer.offset && offset != *buffer.offset) {
      AddFor(Kind::kFixedOffset, i, "is fixed at offset " + std::to_string(*buffer.offset));
    }
    if (problem_.capacity && buffer.bytes > 0 && End(i) > *problem_.capacity) {
      AddFor(Kind::kCapacity, i,
             "ends beyond the capacity of " + std::to_string(*problem_.capacity) + " bytes");
    }
  }

  struct Rectangle {
    TimePoint lower, upper;
    Bytes begin, end;
    size_t buffer;
  };

  // Takes births and deaths in turn, deaths first. Until the first overlap, the rectangles alive
  // are disjoint. So a newborn has to be compared only with its neighbours.
  static bool AnyOverlap(const std::vector<Rectangle>& all) {
    struct Event {
      TimePoint time;
      bool is_birth;
      size_t rectangle;
    };
    std::vector<Event> events;
    for (size_t i = 0; i < all.size(); ++i) {
      events.push_back({all[i].lower, true, i});
      events.push_back({all[i].upper, false, i});
    }
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      return a.time != b.time ? a.time < b.time : a.is_birth < b.is_birth;
    });
    std::map<Bytes, Bytes> alive;  // begins and ends
    for (const Event& event : events) {
      const Rectangle& one = all[event.rectangle];
      if (!event.is_birth) {
        alive.erase(one.begin);
        continue;
      }
      const auto above = alive.lower_bound(one.begin);
      if (above != alive.end() && above->first < one.end) return true;
      if (above != alive.begin() && std::prev(above)->second > one.begin) return true;
      alive.emplace_hint(above, one.begin, one.end);
    }
    return false;
  }

  void CheckOverlaps() {
    std::vector<Rectangle> all;
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      const Buffer& b = problem_.buffers[i];
      if (b.bytes > 0) all.push_back({b.lower, b.upper, plan_.offsets[i], End(i), i});
    }
    if (!AnyOverlap(all)) return;
    for (size_t i = 0; i < all.size() && !full(); ++i) {
      const Rectangle& a = all[i];
      for (size_t j = i + 1; j < all.size(); ++j) {
        const Rectangle& b = all[j];
        const bool apart =
            (a.upper <= b.lower) | (b.upper <= a.lower) | (a.end <= b.begin) | (b.end <= a.begin);
        if (!apart) AddOverlap(a.buffer, b.buffer);
      }
    }
  }

  void AddOverlap(size_t i, size_t j) {
    if (full()) return;
    const Buffer& a = problem_.buffers[i];
    const Buffer& b = problem_.buffers[j];
    const std::string bytes =
        Range(std::max(plan_.offsets[i], plan_.offsets[j]), std::min(End(i), End(j)));
    const std::string steps = Range(std::max(a.lower, b.lower), std::min(a.upper, b.upper));
    Add(Kind::kOverlap, BufferId(static_cast<int64_t>(i)), BufferId(static_cast<int64_t>(j)),
        Describe(i) + " and " + Describe(j) + " both hold bytes " + bytes + " in steps " + steps);
  }

  void CheckPeak() {
    Bytes peak = 0;
    size_t highest = problem_.buffers.size();
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      if (problem_.buffers[i].bytes == 0 || End(i) <= peak) continue;
      peak = End(i);
      highest = i;
    }
    if (plan_.peak_bytes == peak) return;
    const std::string reported = "a peak of " + std::to_string(plan_.peak_bytes) + " bytes";
    if (highest == problem_.buffers.size()) {
      Add(Kind::kPeak, {}, {}, "the plan reports " + reported + " but holds nothing");
    } else {
      AddFor(Kind::kPeak, highest, "ends highest, but the plan reports " + reported);
    }
  }

  void CheckBound() {
    const std::string bound = "the lower bound of " + std::to_string(plan_.lower_bound_bytes);
    const std::string peak = "the peak of " + std::to_string(plan_.peak_bytes) + " bytes";
    if (plan_.lower_bound_bytes > plan_.peak_bytes) {
      Add(Kind::kBound, {}, {}, bound + " bytes is above " + peak);
    } else if (plan_.optimal && plan_.lower_bound_bytes != plan_.peak_bytes) {
      Add(Kind::kBound, {}, {},
          "the plan is called optimal, but " + bound + " bytes is below " + peak);
    }
  }

  const MemoryProblem& problem_;
  const MemoryPlan& plan_;
  size_t limit_;
  std::vector<Violation> violations_;
};

}  // namespace

std::vector<Violation> ValidatePlan(const MemoryProblem& problem, const MemoryPlan& plan,
                                    size_t limit) {
  return Validator(problem, plan, limit).Run();
}

std::vector<Violation> ValidateWithoutCapacity(const MemoryProblem& problem, const MemoryPlan& plan,
                                               size_t limit) {
  if (!problem.capacity) return ValidatePlan(problem, plan, limit);
  MemoryProblem unlimited = problem;
  unlimited.capacity.reset();
  return ValidatePlan(unlimited, plan, limit);
}

std::string ToString(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) text += violation.message + "\n";
  return text;
}

}  // namespace cgrun
