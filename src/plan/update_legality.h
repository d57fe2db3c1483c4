// Finds the update edges that can be written straight into their state's bytes.
#ifndef CGRUN_PLAN_UPDATE_LEGALITY_H_
#define CGRUN_PLAN_UPDATE_LEGALITY_H_

#include <vector>

#include "src/ir/graph.h"

namespace cgrun {

// Makes every update edge (state ← next) writable in place. If an edge is not, a copy of `next`
// makes it so. An edge is not writable in place in these cases:
//   the producer of `next` would have to run before a reader of the old state;
//   the producer reads the state but may not overwrite it;
//   `next` updates another state too;
//   `next` has no producer.
// An output that is an updated state becomes a copy of its old value.
//
// Several operators can make `next` of the state one after the other, each in place. A repeated
// path that learns is an example. Then the edge becomes a chain: state ← first, first ← second, …,
// so that none of them takes bytes of its own.
//
// Needs kernels to be selected, as they say what runs in place. Returns whether a copy was added;
// the copies have no kernel yet.
bool LegalizeUpdates(Graph& graph);

}  // namespace cgrun

#endif  // CGRUN_PLAN_UPDATE_LEGALITY_H_
