// StreamClock: when a device's stream reached each of some points, for a device whose work goes on
// after the host has asked for it.
#ifndef CGRUN_BASE_STREAM_CLOCK_H_
#define CGRUN_BASE_STREAM_CLOCK_H_

#include <cstdint>
#include <span>

namespace cgrun {

class StreamClock {
 public:
  virtual ~StreamClock() = default;

  // Notes when the stream comes here. No more marks than the clock was made for, between two reads.
  virtual void Mark() noexcept = 0;
  // Waits for the marks, of which there are `times.size()`, writes the nanoseconds from the first
  // to each of them, and forgets them. Throws UserError with the device's error.
  virtual void Read(std::span<int64_t> times) = 0;
};

}  // namespace cgrun

#endif  // CGRUN_BASE_STREAM_CLOCK_H_
