// Arenas of the host are anonymous mappings. They are touched when they are taken, so that no step
// faults, and a machine that is too small says so at once. A dry run leaves them untouched. Whole
// huge pages are used where the system offers them: with small pages, a step that goes through
// hundreds of MiB would wait for their addresses. No byte more is taken for that.
#include "src/device/cpu.h"

#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <thread>
#include <utility>

#include "src/base/check.h"
#include "src/base/diagnostics.h"
#include "src/base/written_bytes.h"
#include "src/device/address_space.h"
#include "src/device/host_limits.h"
#include "src/device/no_room.h"

namespace cgrun {
namespace {

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

int64_t RoundToPages(int64_t bytes) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  return std::max<int64_t>(page, (bytes + page - 1) / page * page);
}

constexpr int64_t kHugePage = 2 << 20;

// Anonymous memory that begins where a huge page may, or null with errno. For a moment, it takes
// the addresses of one huge page more.
std::byte* MapPages(int64_t bytes) {
  const int64_t room = bytes < kHugePage ? bytes : bytes + kHugePage;
  void* const memory = mmap(nullptr, static_cast<size_t>(room), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const first = static_cast<std::byte*>(memory);
  if (room == bytes) return first;
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const int64_t before = static_cast<int64_t>(-address % kHugePage);
  std::byte* const pages = first + before;
  if (before > 0) munmap(first, static_cast<size_t>(before));
  if (before < kHugePage) munmap(pages + bytes, static_cast<size_t>(kHugePage - before));
  madvise(pages, static_cast<size_t>(bytes / kHugePage * kHugePage), MADV_HUGEPAGE);
  return pages;
}

// Bytes of a mapping that are in memory.
int64_t ResidentIn(std::byte* memory, int64_t bytes) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  std::array<unsigned char, 4096> present;
  const int64_t part = std::ssize(present) * page;
  int64_t resident = 0;
  for (int64_t from = 0; from < bytes; from += part) {
    const int64_t size = std::min(part, bytes - from);
    if (mincore(memory + from, static_cast<size_t>(size), present.data()) != 0) return bytes;
    resident += page * std::count_if(present.begin(), present.begin() + (size + page - 1) / page,
                                     [](unsigned char is_there) { return (is_there & 1) != 0; });
  }
  return resident;
}

[[noreturn]] void ThrowNoAddresses(int64_t bytes, const std::string& reason) {
  throw NoRoom(
      "cannot take " + NeededMiB(bytes) + " of memory: " + reason,
      "free memory: " + FreeMiB(FreeHostMemory()) + "; a smaller batch needs less (--batch N)");
}

}  // namespace

void CheckRoom(int64_t bytes, int64_t free_bytes) {
  if (bytes <= free_bytes) return;
  throw NoRoom(
      "cannot take " + NeededMiB(bytes) + " of memory: " + FreeMiB(free_bytes) + " are free",
      "a smaller batch needs less (--batch N); `cgrun plan MODEL` lists what takes the memory");
}

CpuDevice::~CpuDevice() {
  for (const auto& [arena, bytes] : arenas_) munmap(arena, static_cast<size_t>(bytes));
}

DeviceInfo CpuDevice::Info() const {
  const std::string threads = std::to_string(std::thread::hardware_concurrency());
  return {name_,
          CpuModel() + ", " + threads + " hardware threads",
          ReadMachineMemory().total,
          ReadMachineMemory().available,
          {}};
}

DeviceCounters CpuDevice::counters() const {
  DeviceCounters counters = counters_;
  if (!is_untouched_) return counters;
  counters.host_bytes = 0;
  for (const auto& [arena, bytes] : arenas_) counters.host_bytes += ResidentIn(arena, bytes);
  return counters;
}

void LeaveUntouched(Device& device) {
  if (auto* const host = dynamic_cast<CpuDevice*>(&device)) host->LeaveUntouched();
}

void CpuDevice::UseThreads(int threads) {
  if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
}

void KeepHeap(Device& device, int64_t bytes) {
  if (auto* const host = dynamic_cast<CpuDevice*>(&device)) host->KeepHeap(bytes);
}

void CpuDevice::KeepHeap(int64_t bytes) {
  CGRUN_CHECK(!heap_is_taken_) << "an arena lies in the heap";
  if (heap_ != nullptr && arenas_[heap_] >= bytes) return;
  if (heap_ != nullptr) Unmap(std::exchange(heap_, nullptr));
  heap_ = Allocate(ArenaKind::kDevice, bytes);
}

std::byte* CpuDevice::Allocate(ArenaKind kind, int64_t bytes) {
  if (kind == ArenaKind::kFile) throw UserError("device " + name_ + " has no file arena");
  const int64_t mapped = RoundToPages(bytes);
  if (heap_ != nullptr && !heap_is_taken_ && mapped <= arenas_[heap_]) {
    heap_is_taken_ = true;
    std::memset(heap_, 0, static_cast<size_t>(mapped));
    return heap_;
  }
  const AddressLimit addresses = LeastAddressLimit();
  if (mapped > addresses.left) ThrowNoAddresses(mapped, Describe(addresses));
  CheckRoom(mapped, FreeHostMemory());
  std::byte* const arena = MapPages(mapped);
  if (arena == nullptr) {
    const std::string reason = std::strerror(errno);  // later calls change errno
    const bool is_limit = addresses.left < mapped + kHugePage;
    ThrowNoAddresses(mapped, is_limit ? Describe(addresses) : reason);
  }
  if (!is_untouched_) std::memset(arena, 0, static_cast<size_t>(mapped));
  arenas_[arena] = mapped;
  counters_.bytes = counters_.host_bytes = counters_.bytes + mapped;
  counters_.peak_bytes = std::max(counters_.peak_bytes, counters_.bytes);
  ++counters_.allocations;
  return arena;
}

void CpuDevice::Free(ArenaKind, std::byte* arena) {
  if (arena == heap_) {
    heap_is_taken_ = false;
  } else {
    Unmap(arena);
  }
}

void CpuDevice::Unmap(std::byte* arena) {
  const auto it = arenas_.find(arena);
  CGRUN_CHECK(it != arenas_.end()) << "not an arena of this device";
  munmap(arena, static_cast<size_t>(it->second));
  counters_.bytes = counters_.host_bytes = counters_.bytes - it->second;
  arenas_.erase(it);
}

void CpuDevice::Copy(CopyKind, std::byte* to, const std::byte* from, int64_t bytes, Stream) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
}

void CpuDevice::Enqueue(Stream, void (*function)(void*), void* data) { function(data); }

Event CpuDevice::Record(Stream) { return {}; }

void CpuDevice::Wait(Stream, Event) {}

void CpuDevice::Synchronize(Stream) {}

}  // namespace cgrun
