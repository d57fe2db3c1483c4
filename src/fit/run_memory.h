// The memory that a run takes, as plans, checks and runs report it.
#ifndef CGRUN_FIT_RUN_MEMORY_H_
#define CGRUN_FIT_RUN_MEMORY_H_

#include <algorithm>
#include <cstdint>

#include "src/device/host_limits.h"

namespace cgrun {

// Counts bytes of the host's memory beside the arena and the fixed memory, by their use.
struct HostUse {
  int64_t decoded = 0;  // data sets that stay decoded
  int64_t loaders = 0;  // buffers of batches, and the order of samples
  int64_t states = 0;   // the copy of a state that is loaded or saved, and the file's buffer
  int64_t kept = 0;
  int64_t streamable = 0;  // of `decoded`, what could lie in files

  int64_t total() const { return decoded + loaders + states + kept; }
};

// Bytes that a run has beside its anonymous memory.
struct Footprint {
  int64_t code = 0;      // resident code and libraries, which are mapped from files
  int64_t kernel = 0;    // page tables, stacks and buffers that the kernel has for the process
  int64_t reserved = 0;  // address space that is never touched: stacks, heaps, code
};

struct RunMemory {
  static constexpr int64_t kPlanningBytes = int64_t{4} << 20;

  int64_t arena = 0;  // of the device
  int64_t data = 0;   // parts.total()
  int64_t base = 0;   // PlannedBase()
  // The most anonymous memory before the arena is there: for reading, decoding and compiling.
  int64_t start = 0;
  bool on_host = true;
  HostUse parts = {};
  int64_t base_room = 0;  // bytes of `base` that rounding has added
  Footprint beside = {};

  // The host's part while the run takes steps.
  int64_t host() const { return (on_host ? arena : 0) + data + base; }
  // The most of the host's anonymous memory from the start of the process to its end.
  int64_t peak() const { return std::max(start, host()); }
  // Returns the bytes that count against a cap: the most of the host's memory, or a device's arena.
  int64_t total() const { return on_host ? peak() : arena; }
  // Anonymous memory while a run is planned under a limit. Child processes, one after another,
  // share most of it.
  int64_t planning() const { return start + start / 2 + kPlanningBytes; }
  // The limits of a control group, and of `ulimit -v`, that the run keeps.
  int64_t container() const { return std::max(peak(), planning()) + beside.code + beside.kernel; }
  int64_t address_space() const { return peak() + beside.reserved; }
};

// The largest peak() of a run like this one that keeps all limits.
int64_t LargestPeak(const HostLimits& limits, const RunMemory& like);

// The anonymous memory that the process holds, in bytes, without `counted_bytes`, and without free
// heap and stack, which are given back.
int64_t MeasureBase(int64_t counted_bytes);

// Returns the fixed memory of a run, in bytes: the program, the compiled code, and libraries with
// their threads and buffers. A plan and a run both measure it when the data is open and the code is
// prepared, less the decoded data and arenas. The stacks of the `loaders` threads, logs and reports
// come later, and are added. The sum is rounded up, by kBaseNoise at least. So pages more or less
// do not show, and a run that fits once fits the next time. `*room` gets the bytes that rounding
// added. A program that calls oneDNN touches the pool from which that allocates.
int64_t PlannedBase(int64_t counted_bytes, int64_t loaders, bool calls_onednn,
                    int64_t* room = nullptr);
inline constexpr int64_t kBaseGrain = 512 << 10;
// Measurements of two processes differ by half of this.
inline constexpr int64_t kBaseNoise = 64 << 10;
// A run has taken this much more than its measured fixed memory. A cap leaves it free.
inline constexpr int64_t kBaseLeft = 320 << 10;

// Returns the most bytes that this process has taken so far, rounded as the fixed memory is: for
// RunMemory::start. Call it when the kernels are prepared, but before the arena is there.
int64_t PlannedStart();

// A process that measures for a plan has mapped less code than one that runs, and OpenBLAS has
// reserved a buffer less there.
enum class MeasuredIn { kPlan, kRun };

// Measures the footprint of a run with this memory. Call it when the kernels and threads exist, but
// neither the arena nor the `loaders` threads.
Footprint MeasureFootprint(const RunMemory& memory, int64_t loaders,
                           MeasuredIn place = MeasuredIn::kPlan);

}  // namespace cgrun

#endif  // CGRUN_FIT_RUN_MEMORY_H_
