// LaneChoice: whether runs of an entry point go in lanes or one by one, by how long either takes
// here. Where other processes want the processors, a lane waits for whole slices of time; results
// are the same. Times are only compared, in whatever unit.
#ifndef CGRUN_PROGRAM_LANE_CHOICE_H_
#define CGRUN_PROGRAM_LANE_CHOICE_H_

#include <array>
#include <cstdint>

namespace cgrun {

class LaneChoice {
 public:
  // Whether the next run goes in lanes. Each way is tried a few times first. The slower way is
  // tried now and then again: the slower it was, the more seldom.
  bool in_lanes() const { return way_ == kInLanes; }
  // That run took so long.
  void Took(double time) noexcept;

 private:
  enum Way : uint8_t { kInLanes, kOneByOne };
  static constexpr int64_t kFirstRuns = 4;  // of each way, of which the first is not counted
  static constexpr int64_t kTrialRuns = 2;  // the same, of the slower way
  static constexpr double kRunsBetween = 64;
  static constexpr double kMostBetween = 1 << 14;

  void Turn() noexcept;

  std::array<double, 2> times_{};  // of a run each way; 0: none was counted
  Way way_ = kInLanes;
  bool is_trial_ = true;
  int64_t runs_ = 0;           // this way, since the last turn
  int64_t left_ = kFirstRuns;  // until the next
};

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_LANE_CHOICE_H_
