// MachineLoad: how much of its processors other programs took while this one computed.
#ifndef CGRUN_SESSION_MACHINE_LOAD_H_
#define CGRUN_SESSION_MACHINE_LOAD_H_

#include <sched.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace cgrun {

// Seconds of all processors since the machine was started.
struct ProcessorTimes {
  double busy = 0;     // for programs and the kernel, and what other guests of the host have taken
  double idle = 0;     // waiting for disks, too
  int processors = 0;  // that these are the times of
};

// Adds up the lines of processors in /proc/stat, which comes in pieces, for those that a process
// may use: those of a host are more than those of its guest. Never allocates.
class ProcessorTimesReader {
 public:
  // The file counts `ticks` a second.
  ProcessorTimesReader(const cpu_set_t& processors, double ticks)
      : processors_(processors), ticks_(ticks) {}

  // The next piece of the file. Returns false where what follows it need not be read.
  bool Add(std::string_view piece);
  // Nothing of another text, and where no line is that of a processor.
  std::optional<ProcessorTimes> Times() const;

 private:
  void EndLine();

  cpu_set_t processors_;
  double ticks_;
  std::array<char, 256> line_ = {};  // its first characters, more than those of a processor
  size_t size_ = 0;
  bool is_read_ = false;  // all that is of interest
  bool is_wrong_ = false;
  ProcessorTimes times_;
};

// Reads the clocks when it is made and when it is asked. Never fails, and allocates only when it is
// made.
class MachineLoad {
 public:
  struct Reading {
    // The times of the processors that this process may use. Nothing where /proc/stat cannot be
    // read.
    std::optional<ProcessorTimes> machine;
    double own = 0;   // seconds of processors that this process has taken
    double wall = 0;  // seconds since some moment
  };
  static Reading Read();

  // Where a control group leaves the process less time than its processors have, nothing is told.
  MachineLoad();
  explicit MachineLoad(const Reading& begin) : begin_(begin) {}

  // Returns the part of the processors that others have taken from the beginning to `end`. If the
  // machine is busy, it is from 0.25 to 1. Otherwise it is 0, such as after less than two seconds,
  // or if processors were left to this process.
  double OthersShare(const Reading& end = Read()) const;

 private:
  Reading begin_;
};

}  // namespace cgrun

#endif  // CGRUN_SESSION_MACHINE_LOAD_H_
