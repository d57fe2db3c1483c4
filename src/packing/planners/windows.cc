// Chooses the buffers that a window frees, and those that it leaves as obstacles.
#include "src/packing/planners/windows.h"

#include <algorithm>
#include <optional>

#include "src/packing/planners/tree_search.h"

namespace cgrun {
namespace {

constexpr size_t kMostFree = 200;     // buffers that one window places anew
constexpr size_t kMostBuffers = 600;  // with the obstacles

class Windows {
 public:
  Windows(const MemoryProblem& problem, const TimeSections& sections, Bytes capacity,
          std::vector<Bytes> offsets)
      : problem_(problem), ranges_(sections.ranges()), capacity_(capacity), offsets_(offsets) {}

  // A buffer that ends above the capacity, if there is one.
  std::optional<size_t> Tallest() const {
    std::optional<size_t> tallest;
    for (size_t i = 0; i < offsets_.size(); ++i) {
      if (problem_.buffers[i].bytes == 0 || End(i) <= capacity_) continue;
      if (!tallest || End(i) > End(*tallest)) tallest = i;
    }
    return tallest;
  }

  // Places what is alive near buffer `i` below the capacity: in the widest window that is small
  // enough.
  bool Lower(size_t i, int64_t nodes, Effort& effort) {
    constexpr int64_t kLooksANode = 256;
    const int32_t length = ranges_[i].end - ranges_[i].begin;
    for (int32_t margin = 4 * length + 16;; margin /= 2) {
      const SectionRange window = {ranges_[i].begin - margin, ranges_[i].end + margin};
      effort.Spend(1 + std::ssize(ranges_) / kLooksANode);
      if (Collect(window)) return Solve(nodes, effort);
      if (margin == 0 || effort.over()) return false;
    }
  }

  const std::vector<Bytes>& offsets() const { return offsets_; }

 private:
  Bytes End(size_t i) const { return offsets_[i] + problem_.buffers[i].bytes; }

  // The problem of one window: what it meets is free, the rest of what that meets is an obstacle,
  // as far as it lies below the capacity. Returns false where that is too much.
  bool Collect(SectionRange window) {
    ids_.clear();
    free_ = 0;
    SectionRange reach = window;
    for (size_t i = 0; i < ranges_.size(); ++i) {
      if (problem_.buffers[i].offset || !Meet(ranges_[i], window)) continue;
      ids_.push_back(i);
      if (++free_ > kMostFree) return false;
      reach.begin = std::min(reach.begin, ranges_[i].begin);
      reach.end = std::max(reach.end, ranges_[i].end);
    }
    for (size_t i = 0; i < ranges_.size(); ++i) {
      const bool is_free = !problem_.buffers[i].offset && Meet(ranges_[i], window);
      if (is_free || !Meet(ranges_[i], reach) || offsets_[i] >= capacity_) continue;
      ids_.push_back(i);
      if (ids_.size() > kMostBuffers) return false;
    }
    return free_ > 0;
  }

  bool Solve(int64_t nodes, Effort& effort) {
    MemoryProblem part;
    for (size_t k = 0; k < ids_.size(); ++k) {
      Buffer buffer = problem_.buffers[ids_[k]];
      buffer.name.clear();
      if (k >= free_) {
        buffer.offset = offsets_[ids_[k]];
        buffer.bytes = std::min(End(ids_[k]), capacity_) - *buffer.offset;
      }
      part.buffers.push_back(std::move(buffer));
    }
    const TimeSections sections(part);
    TreeSearch search(part, sections);
    for (const Preorder& order : kPreorders) {
      const SearchOutcome outcome = search.Run(capacity_, order, nodes, effort);
      if (outcome == SearchOutcome::kNone) return false;
      if (outcome == SearchOutcome::kStopped) continue;
      for (size_t k = 0; k < free_; ++k) offsets_[ids_[k]] = search.offsets()[k];
      return true;
    }
    return false;
  }

  const MemoryProblem& problem_;
  const std::vector<SectionRange>& ranges_;
  const Bytes capacity_;
  std::vector<Bytes> offsets_;
  std::vector<size_t> ids_;  // of the window: the first `free_` are placed anew
  size_t free_ = 0;
};

}  // namespace

bool LowerByWindows(const MemoryProblem& problem, const TimeSections& sections, Bytes capacity,
                    int64_t nodes, MemoryPlan& plan, Effort& effort) {
  Windows windows(problem, sections, capacity, plan.offsets);
  while (const std::optional<size_t> tallest = windows.Tallest()) {
    if (problem.buffers[*tallest].offset || effort.over()) return false;
    if (!windows.Lower(*tallest, nodes, effort)) return false;
  }
  plan.offsets = windows.offsets();
  plan.peak_bytes = PeakBytes(problem, plan.offsets);
  return true;
}

}  // namespace cgrun
