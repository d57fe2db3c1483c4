// How much memory a kernel may take to be faster than another.
#ifndef CGRUN_SELECT_ROOM_H_
#define CGRUN_SELECT_ROOM_H_

#include "src/ir/graph.h"

namespace cgrun {

// The bytes that some node of a bound graph takes in any case for operands that live within a run,
// and a sixteenth of that. It depends on the graph alone, not on an order or a cap, so that these
// change no bit.
int64_t RoomOf(const Graph& graph);

}  // namespace cgrun

#endif  // CGRUN_SELECT_ROOM_H_
