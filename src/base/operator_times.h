// OperatorTimes: how long each operator of each entry point ran, and the first runs one by one for
// a trace. A lap is one reading of the clock; nothing is allocated after construction.
#ifndef CGRUN_BASE_OPERATOR_TIMES_H_
#define CGRUN_BASE_OPERATOR_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cgrun {

// One run of an operator. Times are nanoseconds since the first Begin().
struct OperatorRun {
  int32_t entry = 0;
  int32_t index = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

struct OperatorTime {
  int64_t calls = 0;
  int64_t nanoseconds = 0;
};

class OperatorTimes {
 public:
  // `operators[e]` is the number of operators of entry point e. The first `most_runs` runs are kept
  // one by one.
  OperatorTimes(const std::vector<size_t>& operators, size_t most_runs);

  // The time from here to the next lap belongs to that lap's operator.
  void Begin() noexcept;
  void Lap(int entry, int index) noexcept;

  std::span<const OperatorTime> Entry(int entry) const {
    return times_[static_cast<size_t>(entry)];
  }
  std::span<const OperatorRun> runs() const { return {runs_.data(), kept_}; }

 private:
  std::vector<std::vector<OperatorTime>> times_;
  std::vector<OperatorRun> runs_;
  size_t kept_ = 0;
  int64_t origin_ = -1;
  int64_t last_ = 0;
};

}  // namespace cgrun

#endif  // CGRUN_BASE_OPERATOR_TIMES_H_
