// The packing problem, as plain data: buffers with a size and a lifespan go in (MemoryProblem), an
// offset for each comes out (MemoryPlan). Planners (planner.h) turn the one into the other, the
// validator (validator.h) checks the result, problem_csv.h reads and writes both.
//
//   bytes
//    160 +-----------+     +-----------------------+  <- peak_bytes; steps 0, 1, 3 and 4 hold 160
//        |           |     |                       |     bytes, so lower_bound_bytes is 160 too:
//    128 |           |     |           d           |     no plan is better, this one is `optimal`
//        |     b     |     |                       |
//     96 |           +-----+-----------+-----------+     a: 64 bytes, alive in [0, 7)
//        |           |        c        |                 b: 96 bytes, alive in [0, 2)
//     64 +-----------+-----------------+-----------+     c: 32 bytes, alive in [2, 5)
//        |                                         |     d: 64 bytes, alive in [3, 7)
//     32 |                    a                    |
//        |                                         |  offsets = {0, 64, 64, 96}: b and c share
//      0 +-----------------------------------------+  addresses, their lifespans do not overlap
//        0     1     2     3     4     5     6     7  steps
#ifndef CGRUN_PACKING_MEMORY_PROBLEM_H_
#define CGRUN_PACKING_MEMORY_PROBLEM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/ids.h"

namespace cgrun {

using TimePoint = int64_t;  // a step of the schedule; any origin
using Bytes = int64_t;      // a size, an offset or an alignment

using BufferId = Id<struct BufferTag>;

// This alignment in bytes suits device arenas and every vector instruction.
inline constexpr Bytes kDefaultAlignment = 64;

// Bytes that are held from step `lower` up to, not including, step `upper`. A buffer of zero bytes
// is at its fixed offset, else at 0; it conflicts with nothing and adds to no peak.
struct Buffer {
  Bytes bytes = 0;
  TimePoint lower = 0;
  TimePoint upper = 0;
  Bytes alignment = kDefaultAlignment;  // a power of two; offsets are multiples of it
  std::optional<Bytes> offset;          // fixed: the planner must put it here
  std::string name;                     // for messages alone
  int zone = 0;                         // for planner `calcgraph` alone, see kWorkspaceZone
};

// The zone whose buffers `calcgraph` lays over each other; those of every other one lie side by
// side.
inline constexpr int kWorkspaceZone = 3;

// One arena. A buffer's id is its index in `buffers`.
struct MemoryProblem {
  std::vector<Buffer> buffers;
  // Bytes of the arena, if limited. Planners pack as low as they can in any case; whether the peak
  // fits is for the caller (and `cgrun plan --capacity`) to judge.
  std::optional<Bytes> capacity;

  const Buffer& operator[](BufferId id) const { return buffers[static_cast<size_t>(id.index)]; }
};

struct MemoryPlan {
  std::vector<Bytes> offsets;   // one a buffer, by id
  Bytes peak_bytes = 0;         // largest offset + bytes, over buffers that have bytes
  Bytes lower_bound_bytes = 0;  // LowerBound() of the problem, or more where a search proved it
  bool optimal = false;         // proved: the peak is the lower bound
  std::string planner;          // name in the planner table
  int64_t nodes = 0;            // placements tried: the work, the same on every machine
};

// The smallest multiple of `alignment` (a power of two) that is at least `bytes` (not negative).
inline Bytes RoundUp(Bytes bytes, Bytes alignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

// "'conv1.weight'", or "buffer 7" where the buffer has no name.
std::string DisplayName(const MemoryProblem& problem, BufferId id);

// Something that makes a problem impossible or unrepresentable.
struct ProblemFault {
  enum class Field { kProblem, kBytes, kLifespan, kAlignment, kOffset };
  BufferId first;   // invalid where the problem as a whole is at fault
  BufferId second;  // valid where two fixed buffers collide
  Field field = Field::kProblem;
  std::string message;  // as Diagnostics wants it: lower case, no full stop
  std::string help;
};

// Returns the faults of a problem, by buffer, at most `limit`. Faults are negative sizes, empty
// lifespans, alignments that are no power of two, fixed offsets that are negative, misaligned or
// collide, and sizes whose sum with all padding leaves int64. Every planner may assume that there
// is none.
std::vector<ProblemFault> ProblemFaults(const MemoryProblem& problem, size_t limit = 1000);

// Returns a number of bytes that no plan can be below, in O(n log n) for each alignment that
// occurs. It is the largest of these:
//  - for each alignment A that occurs: over all steps, the sum of the buffers alive whose alignment
//    is at least A, each rounded up to A, less the largest padding among them. (Sound: sorted by
//    address, two neighbours start at multiples of A, so all but the topmost take whole multiples.)
//    Where all buffers are aligned to 1, that is the plain sum of bytes alive;
//  - the end of each fixed buffer.
Bytes LowerBound(const MemoryProblem& problem);

// Returns the peak of `offsets`, which has one entry per buffer.
Bytes PeakBytes(const MemoryProblem& problem, const std::vector<Bytes>& offsets);

// Returns groups of buffers whose lifespans never touch another group's, in the order of time.
// Within a group the buffers are in the order of ids. Buffers of zero bytes are in no group. Each
// group can be planned alone.
std::vector<std::vector<BufferId>> SplitByTime(const MemoryProblem& problem);

}  // namespace cgrun

#endif  // CGRUN_PACKING_MEMORY_PROBLEM_H_
