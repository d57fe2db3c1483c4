// SwapSpace: the arena of kind kFile, where tensors wait that the device's memory cannot take. A
// file (swap_file.h), or, of a device with memory of its own, pinned memory of the host.
//
//   steps        … conv3 … | StartWrite |  relu3, pool3, …  | Wait |   the bytes are free for
//   others beside them            |            writes              |
//
// Bytes that are on their way belong to the space: nothing writes those that are being written to
// it, and nothing touches those that are being read from it, in what comes before Wait().
#ifndef CGRUN_DEVICE_SWAP_SPACE_H_
#define CGRUN_DEVICE_SWAP_SPACE_H_

#include <cstddef>
#include <cstdint>

namespace cgrun {

class SwapSpace {
 public:
  virtual ~SwapSpace() = default;

  // Begins to copy `bytes` to or from the space's byte `offset` on, in the order of the calls. Each
  // is waited for in the run that begins it.
  virtual void StartWrite(int64_t offset, std::byte* from, int64_t bytes) noexcept = 0;
  virtual void StartRead(int64_t offset, std::byte* to, int64_t bytes) noexcept = 0;
  // Waits until nothing is under way at that offset for the calls that follow. If a transfer has
  // failed, the bytes are undefined. Then Check() reports it, or the call that waits for the stream
  // does.
  virtual void Wait(int64_t offset) noexcept = 0;
  // Throws UserError with what went wrong first, if anything ever did: what was computed since is
  // worth nothing.
  virtual void Check() const = 0;
  // Returns whether its calls put work into the stream of the run, in whose order all happens then:
  // so they are a part of what is captured. Else they act when they are made.
  virtual bool in_stream() const { return false; }
};

}  // namespace cgrun

#endif  // CGRUN_DEVICE_SWAP_SPACE_H_
