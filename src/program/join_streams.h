// Runs instructions in two streams, on one thread each. A stream runs its instructions in order. It
// waits where one touches bytes that an earlier instruction of the other stream writes, or writes
// bytes that it touches. So each sees what it would see one by one.
#ifndef CGRUN_PROGRAM_JOIN_STREAMS_H_
#define CGRUN_PROGRAM_JOIN_STREAMS_H_

#include <memory>
#include <vector>

#include "src/program/image.h"

namespace cgrun {

// Returns the `instructions` of `entry` with each stretch in streams as one instruction. It runs on
// the first two of `threads` threads; if there is one thread, one by one. `kept` takes what the
// result needs as long as it runs. If there are no streams, the result is empty.
std::vector<Instruction> JoinStreams(const ImageEntry& entry,
                                     const std::vector<Instruction>& instructions, int threads,
                                     std::vector<std::shared_ptr<const void>>& kept);

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_JOIN_STREAMS_H_
