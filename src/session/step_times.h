// StepTimes: how long the steps of a run took, kept without allocating.
#ifndef CGRUN_SESSION_STEP_TIMES_H_
#define CGRUN_SESSION_STEP_TIMES_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace cgrun {

// Counts them in classes, whose bounds are a fifth apart.
class StepTimes {
 public:
  void Add(double seconds);

  int64_t steps() const { return steps_; }
  double seconds() const { return seconds_; }

  // Returns how many times as long as the quickest tenth the mean step took, if that tells of a
  // busy machine. Otherwise it is 0: after less than a second, after few steps, and if only some
  // rare step was slow.
  double Slowdown() const;

 private:
  static constexpr size_t kClasses = 128;  // from a microsecond to hours

  std::array<int64_t, kClasses> counts_ = {};
  int64_t steps_ = 0;
  double seconds_ = 0;
};

}  // namespace cgrun

#endif  // CGRUN_SESSION_STEP_TIMES_H_
