// OperatorTimes: how long each operator of each entry point ran, and the first runs one by one for
// a trace. A lap is one mark of the host's clock, or of a stream's, which are read together once
// the run is over; nothing is allocated after construction.
#ifndef CGRUN_BASE_OPERATOR_TIMES_H_
#define CGRUN_BASE_OPERATOR_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/base/stream_clock.h"

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
  // one by one. The clock takes MarksOf(operators) marks; null: the host's.
  OperatorTimes(const std::vector<size_t>& operators, size_t most_runs,
                std::unique_ptr<StreamClock> clock = nullptr);

  // The marks of the longest entry point's run.
  static size_t MarksOf(const std::vector<size_t>& operators);

  // The time from here to the next lap belongs to that lap's operator.
  // A run that was broken off ends here.
  void Begin();
  void Lap(int entry, int index) noexcept;
  // After the last lap of a run; until then its laps are not counted. Throws UserError with the
  // device's error.
  void End();

  std::span<const OperatorTime> Entry(int entry) const {
    return times_[static_cast<size_t>(entry)];
  }
  std::span<const OperatorRun> runs() const { return {runs_.data(), kept_}; }

 private:
  void Add(int entry, int index, int64_t begin, int64_t end) noexcept;

  std::vector<std::vector<OperatorTime>> times_;
  std::vector<OperatorRun> runs_;
  size_t kept_ = 0;
  int64_t origin_ = -1;
  int64_t begin_ = 0;  // of this run, by the system's clock
  std::unique_ptr<StreamClock> clock_;
  std::vector<OperatorRun> laps_;  // of this run, not yet timed
  std::vector<int64_t> marks_;
  size_t laps_of_run_ = 0;
  bool is_open_ = false;  // from Begin() to End()
};

}  // namespace cgrun

#endif  // CGRUN_BASE_OPERATOR_TIMES_H_
