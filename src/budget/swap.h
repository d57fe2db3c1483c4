// Transfers to and from the swap file in a schedule: where they stand, and what they cost.
//
//   bytes   x is kept for late readers                bytes   it is in the file meanwhile
//     |                 peak                            |                 peak
//     |   +--------------|----------------+             |   +------+       |            +------+
//     |   |      x       |                |   becomes   |   |  x   |       |            |  x'  |
//     +---+--------------|----------------+---> steps   +---+------+-------|------------+------+
//                                       reads x             out  wait              in  wait  reads
//                                       x'
//
// One thread does the transfers, in the order in which they begin, while the step goes on. So `out`
// stands as early as it can, `in` as early as memory allows, and their waits as late.
#ifndef CGRUN_BUDGET_SWAP_H_
#define CGRUN_BUDGET_SWAP_H_

#include <cstdint>

#include "src/plan/buffer_assignment.h"
#include "src/plan/cost_model.h"

namespace cgrun {

// Returns the number of tensors that the graph writes to the swap file.
int64_t CountSwaps(const Graph& graph);

// The schedule with its transfers moved apart from their waits, as far as they need and as at most
// `most` transient bytes are alive at a step, or as many as before, where those are more.
Schedule SpreadTransfers(const Graph& graph, const Schedule& schedule, Bytes most,
                         const BufferOptions& buffers);

// Takes back what the node `out`, a swap_out, does: the readers of what comes back read what was
// written. `schedule` keeps the order of the others.
void UndoSwap(Graph& graph, Schedule& schedule, NodeId out);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_SWAP_H_
