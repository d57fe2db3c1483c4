// Limits the work of a search. It counts nodes, which are the same on every machine. If a person
// waits for the answer, it also counts seconds.
#ifndef CGRUN_PACKING_PLANNERS_EFFORT_H_
#define CGRUN_PACKING_PLANNERS_EFFORT_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace cgrun {

class Effort {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Effort(int64_t nodes, std::optional<double> seconds = std::nullopt) : most_(nodes) {
    constexpr double kMostSeconds = 1e6;
    if (!seconds) return;
    const std::chrono::duration<double> span(std::clamp(*seconds, 0.0, kMostSeconds));
    deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(span);
  }

  // Takes `nodes` of it. Looks at the clock about once in kNodesPerLook nodes.
  void Spend(int64_t nodes) {
    spent_ += nodes;
    if (!deadline_ || spent_ < next_look_) return;
    next_look_ = spent_ + kNodesPerLook;
    late_ = late_ || Clock::now() >= *deadline_;
  }

  // At most `nodes` of what is left, to be counted alone.
  Effort Slice(int64_t nodes) const {
    Effort slice = *this;
    slice.most_ = std::min(nodes, left());
    slice.spent_ = slice.next_look_ = 0;
    return slice;
  }

  // Looks at the clock now; false where no seconds are given.
  bool IsLate() {
    late_ = late_ || (deadline_ && Clock::now() >= *deadline_);
    return late_;
  }

  int64_t spent() const { return spent_; }
  int64_t left() const { return late_ ? 0 : std::max<int64_t>(0, most_ - spent_); }
  bool over() const { return left() == 0; }

 private:
  static constexpr int64_t kNodesPerLook = 1024;

  int64_t most_;
  int64_t spent_ = 0;
  int64_t next_look_ = 0;
  std::optional<Clock::time_point> deadline_;
  bool late_ = false;
};

}  // namespace cgrun

#endif  // CGRUN_PACKING_PLANNERS_EFFORT_H_
