// The limit that a run meets first, and the refusal of a run that does not keep it.
#ifndef CGRUN_FIT_RUN_LIMIT_H_
#define CGRUN_FIT_RUN_LIMIT_H_

#include <cstdint>
#include <string>

#include "src/device/host_limits.h"
#include "src/fit/run_memory.h"
#include "src/program/image.h"
#include "src/results/memory_use.h"

namespace cgrun {

// Who says how much a run may take.
enum class LimitKind { kAsked, kMachine, kGroup, kAddresses };

struct RunLimit {
  int64_t bytes = 0;  // that the run may take, without code and without the kernel's share
  LimitKind kind = LimitKind::kAsked;

  // "the cap of", as it stands before the number of bytes.
  std::string name() const;
  // The limit that is enough for the run, as whoever has set this one can set it.
  std::string EnoughFor(const RunMemory& run) const;
};

// "243MiB", "12.6MiB": the least cap that allows so many bytes, as --memory takes it.
std::string LeastCap(int64_t bytes);

// The least of the limits, as a run like this one meets it.
RunLimit LeastLimit(const HostLimits& limits, const RunMemory& like);

// The plan of a run that has its kernels, but neither its arena nor its `loaders` threads, with the
// footprint as it is now.
RunMemory RunMemoryOf(const MemoryUse& memory, bool on_host, int64_t loaders);

// Returns whether the run can take its arena. What it took at its start, it has taken already:
// that counts against a cap alone.
bool Fits(const RunMemory& run, const RunLimit& limit);

// Says how a run takes less, by what takes most.
struct WaysOut {
  std::string arena, data;
};

// Throws NoRoom with the limit, the parts of the run, the holders of the peak, and what is enough;
// if the user has asked for the limit, InputError. `image` is the program that was to run (null:
// none is known).
[[noreturn]] void RefuseRun(const RunMemory& run, const RunLimit& limit, const ProgramImage* image,
                            const WaysOut& ways);

}  // namespace cgrun

#endif  // CGRUN_FIT_RUN_LIMIT_H_
