// This file asks the system about the memory of this process, and adds what the system does not
// tell.
#include "src/fit/run_memory.h"

#include <pthread.h>
#include <sys/resource.h>

#include "src/base/allocation_counter.h"
#include "src/base/process_memory.h"
#include "src/packing/memory_problem.h"

namespace cgrun {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kLaterBytes = 256 << 10;  // a run adds these after its fixed memory is measured

// PooledAllocations has this many bytes in all.
constexpr int64_t kPoolBytes = kMiB;

// A loader's thread takes this much of its stack, in bytes. Most kernels give it a few pages, some
// 64 KiB at once.
constexpr int64_t kThreadBytes = 72 << 10;

// Code and libraries that runs of the shipped models have been seen to map. A child that measures
// has mapped less than its parent, so that this counts there. The headers of the loaded files give
// a bound of 97 MiB, which is too much: most of oneDNN and OpenBLAS is never touched.
constexpr int64_t kUsualCode = 26 * kMiB;
// The kernel takes this much for a thread: its stack and its record.
constexpr int64_t kKernelThread = 32 << 10;
// The kernel's own for open files, mappings and sockets.
constexpr int64_t kKernelProcess = 3 * kMiB / 2;
// A page table has eight bytes for each page of 4 KiB.
constexpr int64_t kPageTablePart = 512;
// Arenas begin where a huge page may, and a read needs addresses for a moment.
constexpr int64_t kLaterAddresses = 16 * kMiB;
// A process that measures for a plan lacks these of one that runs: code, and a buffer of OpenBLAS.
constexpr int64_t kMoreCode = 4 * kMiB;
constexpr int64_t kMoreAddresses = 128 * kMiB;
// The control group counts more than the process reports, by up to this.
constexpr int64_t kGroupNoise = kMiB;
// The address spaces of two equal processes differ by up to this.
constexpr int64_t kAddressNoise = 8 * kMiB;

// Returns the bytes of addresses that each new thread reserves for its stack.
int64_t StackReserve() {
  pthread_attr_t attributes;
  size_t bytes = 8 * kMiB;
  if (pthread_getattr_default_np(&attributes) == 0) {
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
  }
  return static_cast<int64_t>(bytes);
}

int64_t Within(int64_t limit, int64_t taken) {
  return limit == HostLimits::kNone ? limit : std::max<int64_t>(0, limit - taken);
}

}  // namespace

int64_t LargestPeak(const HostLimits& limits, const RunMemory& like) {
  const int64_t beside = like.beside.code + like.beside.kernel - kGroupNoise;
  return std::min({limits.machine, Within(limits.group, beside),
                   Within(limits.address_space, like.beside.reserved - kAddressNoise)});
}

int64_t MeasureBase(int64_t counted_bytes) {
  ReleaseFreeMemory();
  return std::max<int64_t>(0, ResidentBytes() - counted_bytes);
}

int64_t PlannedBase(int64_t counted_bytes, int64_t loaders, bool calls_onednn, int64_t* room) {
  const int64_t pool = calls_onednn ? kPoolBytes : 0;
  const int64_t bytes = MeasureBase(counted_bytes) + loaders * kThreadBytes + kLaterBytes + pool;
  const int64_t rounded = RoundUp(bytes + kBaseNoise, kBaseGrain);
  if (room != nullptr) *room = rounded - bytes;
  return rounded;
}

int64_t PlannedStart() {
  return RoundUp(PeakAnonymousBytes() + static_cast<int64_t>(kSampleBytes) + kBaseNoise,
                 kBaseGrain);
}

Footprint MeasureFootprint(const RunMemory& memory, int64_t loaders, MeasuredIn place) {
  const bool in_plan = place == MeasuredIn::kPlan;
  const ProcessMemory now = ReadProcessMemory();
  const int64_t threads = now.threads + loaders;
  const int64_t code = now.mapped_files + (in_plan ? kMoreCode : 0);
  const int64_t addresses = now.address_space - now.anonymous + (in_plan ? kMoreAddresses : 0);
  Footprint beside;
  beside.code = std::max(kUsualCode, RoundUp(code, kMiB));
  const int64_t page_tables = (memory.peak() + beside.code) / kPageTablePart;
  beside.kernel = RoundUp(page_tables + threads * kKernelThread + kKernelProcess, kMiB);
  beside.reserved = RoundUp(addresses + loaders * StackReserve() + kLaterAddresses, kMiB);
  return beside;
}

}  // namespace cgrun
