// The limit that a run meets first, and the refusal of a run that does not keep it.
#ifndef CGRUN_FIT_RUN_LIMIT_H_
#define CGRUN_FIT_RUN_LIMIT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/device/host_limits.h"
#include "src/device/no_room.h"
#include "src/fit/run_memory.h"
#include "src/model/model_spec.h"
#include "src/program/image.h"
#include "src/results/memory_use.h"

namespace cgrun {

// Names who limits the memory of a run.
enum class LimitKind { kAsked, kMachine, kGroup, kAddresses };

struct RunLimit {
  int64_t bytes = 0;  // that the run may take, without code and without the kernel's share
  LimitKind kind = LimitKind::kAsked;
  std::string flag = "--memory";  // that sets it, if it is asked for

  // "the cap of", as it stands before the number of bytes.
  std::string name() const;
  // The limit that is enough for the run, as whoever has set this one can set it.
  std::string EnoughFor(const RunMemory& run) const;
};

// "243MiB", "12.6MiB": the least cap that allows so many bytes, as --memory takes it.
std::string LeastCap(int64_t bytes);

// The cap of a model, with the flag that the user gave. The result is empty if the model has none.
std::optional<RunLimit> CapOf(const ModelSpec& model);

// The least of the limits, as a run like this one meets it.
RunLimit LeastLimit(const HostLimits& limits, const RunMemory& like);

// The plan of a run that has its kernels, but neither its arena nor its `loaders` threads, with the
// footprint as it is now.
RunMemory RunMemoryOf(const MemoryUse& memory, std::string_view device, int64_t loaders);

// Returns whether the run can take its arena. The memory that it took at its start counts only
// against a cap, since the run has it already.
bool Fits(const RunMemory& run, const RunLimit& limit);

// Returns the limit that the run does not keep: `cap`, if there is one, or the least of the others.
// If it keeps all, the result is empty.
std::optional<RunLimit> BrokenLimit(const RunMemory& run, const HostLimits& limits,
                                    const std::optional<RunLimit>& cap = std::nullopt);

// Says how a run takes less, by what takes most.
struct WaysOut {
  std::string arena, data;
};

// Throws NoRoom with the limit, the parts of the run, the holders of the peak, and what is enough;
// if the user has asked for the limit, InputError. `image` is the program that was to run (null:
// none is known).
[[noreturn]] void RefuseRun(const RunMemory& run, const RunLimit& limit, const ProgramImage* image,
                            const WaysOut& ways);

// Refuses a run without loaders that is about to take its arena, if the limits leave too little.
// `memory` is what it is planned to take, and `image` is as for RefuseRun().
void CheckLimits(const MemoryUse& memory, std::string_view device, const ProgramImage* image,
                 const HostLimits& limits, const WaysOut& ways);

// Throws NoRoom if a control group leaves so little that the system would kill even what reads and
// plans a small model. From here on operator new throws RoomRanOut before a group has too little
// left, until the limits of a run have been checked.
void WatchPlanning();

// Returns what to tell the user of RoomRanOut.
NoRoom PlanningRanOut();

}  // namespace cgrun

#endif  // CGRUN_FIT_RUN_LIMIT_H_
