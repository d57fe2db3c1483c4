// The host as a device: `reference` now; every device that computes on the host shares it.
#ifndef CGRUN_DEVICE_CPU_H_
#define CGRUN_DEVICE_CPU_H_

#include <map>

#include "src/device/device.h"

namespace cgrun {

// Throws UserError where `bytes` more do not fit into what the host has free. Linux would hand them
// out all the same, and kill the process when it touches them.
void CheckRoom(int64_t bytes, int64_t free_bytes);

// A stream runs what it is given at once, so that events are always past.
class CpuDevice final : public Device {
 public:
  explicit CpuDevice(std::string name) : name_(std::move(name)) {}
  ~CpuDevice() override;

  DeviceInfo Info() const override;
  DeviceCounters counters() const override;
  void UseThreads(int threads) override;
  std::byte* Allocate(ArenaKind kind, int64_t bytes) override;
  void Free(ArenaKind kind, std::byte* arena) override;
  Stream CreateStream() override { return {}; }
  void Copy(CopyKind kind, std::byte* to, const std::byte* from, int64_t bytes,
            Stream stream) override;
  void Enqueue(Stream stream, void (*function)(void*), void* data) override;
  Event Record(Stream stream) override;
  void Wait(Stream stream, Event event) override;
  void Synchronize(Stream stream) override;

  // Takes a heap of so many bytes, or of more. From now on an arena that fits lies in it, unless
  // another one does. So arenas that are taken one after the other take memory once. A larger heap
  // replaces a smaller one. Throws as Allocate() does.
  void KeepHeap(int64_t bytes);

  // Arenas that are taken from now on are resident as far as they are written to, and count in the
  // host's memory so.
  void LeaveUntouched() { is_untouched_ = true; }

 private:
  void Unmap(std::byte* arena);

  std::string name_;
  DeviceCounters counters_;
  std::map<std::byte*, int64_t> arenas_;  // bytes mapped for each
  std::byte* heap_ = nullptr;             // one of them
  bool heap_is_taken_ = false;
  bool is_untouched_ = false;
};

// The same, of a device that computes on the host. Others take each arena anew.
void KeepHeap(Device& device, int64_t bytes);

// For a dry run, which writes states alone. Other devices than the host's stay as they are.
void LeaveUntouched(Device& device);

}  // namespace cgrun

#endif  // CGRUN_DEVICE_CPU_H_
