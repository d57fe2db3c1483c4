// HostClock: marks of the processor's own counter, which it takes half as long to read as the
// system's clock. On a processor whose counter stands still or changes its pace they are of that
// clock.
#ifndef CGRUN_BASE_HOST_CLOCK_H_
#define CGRUN_BASE_HOST_CLOCK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/base/stream_clock.h"

namespace cgrun {

class HostClock final : public StreamClock {
 public:
  explicit HostClock(size_t marks);

  void Mark() noexcept override;
  void Read(std::span<int64_t> times) override;

 private:
  // One point by both clocks: two of them say how long a tick is.
  struct Point {
    int64_t ticks = 0;
    int64_t nanoseconds = 0;
  };
  Point Now() const noexcept;

  bool counts_;  // whether ticks are the processor's
  Point made_;
  std::vector<int64_t> ticks_;
  size_t marks_ = 0;
};

}  // namespace cgrun

#endif  // CGRUN_BASE_HOST_CLOCK_H_
