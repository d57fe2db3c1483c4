// The memory of a process that trains, evaluates or predicts, as planned and as measured.
#ifndef CGRUN_RESULTS_MEMORY_USE_H_
#define CGRUN_RESULTS_MEMORY_USE_H_

#include <algorithm>
#include <cstdint>

#include "src/results/mode.h"

namespace cgrun {

// Bytes of the device, the most so far. A planned program has its whole arena from the start.
struct EngineMemory {
  int64_t live_peak_bytes = 0;      // in tensors and workspaces at the same time
  int64_t reserved_peak_bytes = 0;  // taken from the device for them
  int64_t requests = 0;             // of memory, so far
  int64_t system_requests = 0;      // those of `requests` that the device had to serve
};

// Bytes of memory, as planned before the first step and as measured. Eager mode plans nothing: its
// tensors are measured alone.
struct MemoryUse {
  Mode mode = Mode::kGraph;
  int64_t arena = 0;           // 0 in eager mode
  int64_t data = 0;            // loader buffers, decoded sets, the state copy
  int64_t base = 0;            // PlannedBase(): the process before both, with the compiled program
  int64_t swap_space = 0;      // beside all that; 0: there is none
  bool swaps_to_host = false;  // the swap space is pinned memory of the host, and no file
  int64_t start = 0;           // the most before the arena was there, as PlannedStart() rounds it
  int64_t measured = 0;        // the most anonymous memory since the process began
  // The most that was resident since the process began: with the code and the libraries, which are
  // mapped from files.
  int64_t process = 0;
  EngineMemory engine;  // measured too, on the device
  bool has_plan() const { return mode == Mode::kGraph; }
  int64_t in_steps() const { return arena + data + base; }
  int64_t planned() const { return std::max(start, in_steps()); }
};

}  // namespace cgrun

#endif  // CGRUN_RESULTS_MEMORY_USE_H_
