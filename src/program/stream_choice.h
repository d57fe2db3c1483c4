// StreamChoice decides whether runs of an entry point go in parallel streams or one by one. It
// takes the way that is faster here. If other processes want the processors, a stream can wait for
// whole slices of time. Both ways give the same results. Times may have any unit.
#ifndef CGRUN_PROGRAM_STREAM_CHOICE_H_
#define CGRUN_PROGRAM_STREAM_CHOICE_H_

#include <array>
#include <cstdint>

namespace cgrun {

class StreamChoice {
 public:
  // Returns whether the next run goes in streams. Each way is tried a few times first. Later the
  // slower way is tried from time to time: the slower it was, the more seldom.
  bool in_streams() const { return way_ == kInStreams; }
  // Tells how long that run took.
  void Took(double time) noexcept;

 private:
  enum Way : uint8_t { kInStreams, kOneByOne };
  static constexpr int64_t kFirstRuns = 4;  // of each way, of which the first is not counted
  static constexpr int64_t kTrialRuns = 2;  // the same, of the slower way
  static constexpr double kRunsBetween = 64;
  static constexpr double kMostBetween = 1 << 14;

  void Turn() noexcept;

  std::array<double, 2> times_{};  // of a run each way; 0: none was counted
  Way way_ = kInStreams;
  bool is_trial_ = true;
  int64_t runs_ = 0;           // this way, since the last turn
  int64_t left_ = kFirstRuns;  // until the next
};

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_STREAM_CHOICE_H_
