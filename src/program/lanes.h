// Instructions in two lanes, one thread each. A lane runs its own in order, and waits where one
// touches bytes that an earlier instruction of the other lane writes, or writes what that touches:
// so all see what they would see one by one.
#ifndef CGRUN_PROGRAM_LANES_H_
#define CGRUN_PROGRAM_LANES_H_

#include <memory>
#include <vector>

#include "src/program/image.h"

namespace cgrun {

// The `instructions` of `entry` in which each stretch that stands side by side is one, which runs
// on the first two of a team of `threads`; on a smaller team one by one. `kept` takes what they
// need as long as they run. Empty where nothing stands side by side.
std::vector<Instruction> JoinLanes(const ImageEntry& entry,
                                   const std::vector<Instruction>& instructions, int threads,
                                   std::vector<std::shared_ptr<const void>>& kept);

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_LANES_H_
