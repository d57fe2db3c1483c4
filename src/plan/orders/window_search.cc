// Depth-first search over the sets of nodes that can have run: what is alive, and so what may
// follow, depends on the set alone.
#include "src/plan/orders/window_search.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

#include "src/base/check.h"

namespace cgrun {
namespace {

class WindowSearch {
 public:
  WindowSearch(const Dependencies& dependencies, Bytes limit, StepMemory& memory,
               std::span<const NodeId> window, int64_t& budget)
      : memory_(memory),
        window_(window),
        limit_(limit),
        budget_(budget),
        waits_for_(window.size()) {
    CGRUN_CHECK(window.size() <= kMostWindowNodes);
    for (size_t i = 0; i < window.size(); ++i) {
      for (NodeId successor : dependencies.successors[window[i]]) {
        const auto at = std::find(window.begin(), window.end(), successor);
        if (at != window.end()) waits_for_[static_cast<size_t>(at - window.begin())] |= Bit(i);
      }
    }
  }

  // The result is empty where no order stays below the limit.
  NodeOrder Run() {
    Extend(0, 0);
    return best_;
  }

 private:
  using Set = uint32_t;  // of places in the window

  static Set Bit(size_t place) { return Set{1} << place; }

  // `done` has run, with this peak.
  void Extend(Set done, Bytes peak) {
    const auto [known, is_new] = peaks_.emplace(done, peak);
    if (!is_new && known->second <= peak) return;
    known->second = peak;
    if (order_.size() == window_.size()) {
      best_ = order_;
      limit_ = peak;
      return;
    }
    for (size_t i = 0; i < window_.size(); ++i) {
      const bool is_ready = (done & Bit(i)) == 0 && (waits_for_[i] & ~done) == 0;
      if (!is_ready || budget_ <= 0) continue;
      --budget_;
      const Bytes next_peak = std::max(peak, memory_.During(window_[i]));
      if (next_peak >= limit_) continue;
      memory_.Run(window_[i]);
      order_.push_back(window_[i]);
      Extend(done | Bit(i), next_peak);
      order_.pop_back();
      memory_.Undo(window_[i]);
    }
  }

  StepMemory& memory_;
  std::span<const NodeId> window_;
  Bytes limit_;  // of what is looked for: below that
  int64_t& budget_;
  std::vector<Set> waits_for_;
  std::unordered_map<Set, Bytes> peaks_;  // the lowest so far with which a set has run
  NodeOrder order_, best_;
};

}  // namespace

bool FindWindowOrder(const Dependencies& dependencies, Bytes limit, StepMemory& memory,
                     std::span<NodeId> window, int64_t& budget) {
  const NodeOrder best = WindowSearch(dependencies, limit, memory, window, budget).Run();
  std::copy(best.begin(), best.end(), window.begin());
  return !best.empty();
}

}  // namespace cgrun
