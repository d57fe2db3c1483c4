// MachineLoad: how much of the machine's processors other programs took while this one computed.
#ifndef CGRUN_TRAIN_MACHINE_LOAD_H_
#define CGRUN_TRAIN_MACHINE_LOAD_H_

#include <optional>
#include <string_view>

namespace cgrun {

// Seconds of all processors since the machine was started.
struct ProcessorTimes {
  double busy = 0;  // for programs and the kernel, and what other guests of the host have taken
  double idle = 0;  // waiting for disks, too
};

// What the first line of /proc/stat says, in `ticks` a second; nothing of another text.
std::optional<ProcessorTimes> ParseProcessorTimes(std::string_view stat, double ticks);

// Reads the clocks when it is made and when it is asked. Never fails, and never allocates.
class MachineLoad {
 public:
  struct Reading {
    std::optional<ProcessorTimes> machine;  // nothing where /proc/stat cannot be read
    double own = 0;                         // seconds of processors that this process has taken
    double wall = 0;                        // seconds since some moment
  };
  static Reading Read();

  explicit MachineLoad(const Reading& begin = Read()) : begin_(begin) {}

  // The part of the processors that others have taken from the beginning to `end`, where that tells
  // of a busy machine: from 0.25 to 1. Else 0: in less than two seconds, and where processors were
  // left to this process.
  double OthersShare(const Reading& end = Read()) const;

 private:
  Reading begin_;
};

}  // namespace cgrun

#endif  // CGRUN_TRAIN_MACHINE_LOAD_H_
