// Device: memory arenas, copies, streams and events, and counters of what was taken. Kernels run on
// its streams; on a CPU a stream runs everything at once, in order.
#ifndef CGRUN_DEVICE_DEVICE_H_
#define CGRUN_DEVICE_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/arena_kind.h"
#include "src/base/stream_clock.h"
#include "src/base/transfer_speed.h"
#include "src/device/swap_space.h"

namespace cgrun {

enum class CopyKind : uint8_t { kHostToDevice, kDeviceToHost, kDeviceToDevice };

// An opaque stream of a device: 0 is the default one. A schedule's lane i runs on stream i.
struct Stream {
  void* handle = nullptr;
};

// A point in a stream that another can wait for.
struct Event {
  void* handle = nullptr;
};

struct DeviceInfo {
  std::string name;         // "reference"
  std::string description;  // "AMD EPYC …, 2 threads"
  int64_t total_bytes = 0;  // memory of the device
  int64_t free_bytes = 0;
  std::vector<std::string> libraries;  // "oneDNN 2.6.3"
};

struct DeviceCounters {
  int64_t bytes = 0;       // in arenas, now
  int64_t host_bytes = 0;  // of them, in the host's memory
  int64_t peak_bytes = 0;  // in arenas, most ever
  int64_t allocations = 0;
};

// Work of a stream that was kept, to be started again as one: a CUDA graph.
class CapturedWork {
 public:
  virtual ~CapturedWork() = default;
  // Puts the work into the stream. Errors are reported when the stream is waited for.
  virtual void Start() noexcept = 0;
};

// Describes a device without opening it, whether this build and machine have it or not.
struct DeviceKind {
  std::string_view name;  // "cuda", also of "cuda:1"
  bool on_host = false;   // computes on the host, in the host's memory
};

class Device {
 public:
  virtual ~Device() = default;

  virtual DeviceInfo Info() const = 0;
  virtual DeviceCounters counters() const = 0;

  // Called by the thread that prepares and starts kernels, before it does either: they are for this
  // device from here on, and run with this team of host threads. It stays the same: to change it
  // allocates.
  virtual void UseThreads(int threads) = 0;

  // Takes an arena of zeroed, touched memory, aligned to 64 bytes or more. Throws UserError with
  // the sizes if there is not enough.
  virtual std::byte* Allocate(ArenaKind kind, int64_t bytes) = 0;
  virtual void Free(ArenaKind kind, std::byte* arena) = 0;

  virtual Stream CreateStream() = 0;
  virtual void Copy(CopyKind kind, std::byte* to, const std::byte* from, int64_t bytes,
                    Stream stream) = 0;
  // Calls `function(data)` in the stream's order.
  virtual void Enqueue(Stream stream, void (*function)(void*), void* data) = 0;
  virtual Event Record(Stream stream) = 0;
  virtual void Wait(Stream stream, Event event) = 0;
  // Returns when the stream has done its work; throws UserError with the device's error.
  virtual void Synchronize(Stream stream) = 0;
  // Locks the pages of `memory`, of the host, until the result is gone, so that they are copied
  // straight from where they are. Returns null where that gains nothing, or cannot be had.
  virtual std::shared_ptr<void> Pin(std::span<std::byte> /*memory*/) { return nullptr; }
  // Returns whether work goes on after the call that puts it into a stream has returned.
  virtual bool is_asynchronous() const { return false; }
  // Keeps what `enqueue` puts into the stream, which does not run now, to be started as one with
  // the addresses that it has here. Returns null where that cannot be done. The device must outlive
  // it.
  virtual std::unique_ptr<CapturedWork> Capture(Stream, const std::function<void()>& /*enqueue*/) {
    return nullptr;
  }
  // Takes `bytes` of the host's memory, pinned, that tensors of `run`'s work can be swapped to; at
  // most `most_in_flight` transfers are under way at a time. Null: they go to a file. The device
  // and the stream must outlive it. Throws UserError with the size if there is not enough.
  virtual std::unique_ptr<SwapSpace> MakeSwapSpace(Stream /*run*/, int64_t /*bytes*/,
                                                   size_t /*most_in_flight*/) {
    return nullptr;
  }
  // Measures how fast bytes go to such a space and come back, rounded to powers of two. Returns
  // nothing where there is no such space. Throws UserError.
  virtual std::optional<TransferSpeed> MeasureTransfers() { return std::nullopt; }
  // A clock of the stream for up to `marks` marks; null where a kernel has done its work when it
  // returns, so that the host's clock tells the same. The device must outlive it.
  virtual std::unique_ptr<StreamClock> MakeClock(Stream, size_t /*marks*/) { return nullptr; }
};

// The device of that name ("reference", "cuda:1", …). Throws UserError, with the known names as
// help, if it is unknown, not built in, or not there.
std::unique_ptr<Device> OpenDevice(std::string_view name);
// Returns the threads that kernels of a host device have by default. CountHostThreads() says why.
int HostThreads();

// Host memory that this process can still take, in bytes: what the system has available, or what is
// left of the limit of its control group.
int64_t FreeHostMemory();

// Returns all kinds of devices. DeviceNames() returns their names alone.
std::vector<DeviceKind> DeviceKinds();
std::vector<std::string> DeviceNames();
// The kind of the device of that name ("cuda:1"), which must be known.
const DeviceKind& KindOfDevice(std::string_view name);
// A line for each device of a kind that has memory of its own, or why there is none; nothing for
// the host, which is always there.
std::vector<std::string> DescribeDevices(const DeviceKind& kind);

}  // namespace cgrun

#endif  // CGRUN_DEVICE_DEVICE_H_
