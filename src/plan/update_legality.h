// Which update edges can be written straight into their state's bytes.
#ifndef CGRUN_PLAN_UPDATE_LEGALITY_H_
#define CGRUN_PLAN_UPDATE_LEGALITY_H_

#include <vector>

#include "src/ir/graph.h"

namespace cgrun {

// Makes every update edge (state ← next) writable in place, by a copy of `next` where it is not:
// where its producer would have to run before a reader of the old state, where the producer reads
// the state but may not overwrite it, where `next` updates another state too, or where it has no
// producer. An output that is an updated state becomes a copy of its old value.
//
// Where operators make `next` of the state one after the other, each in place, as where a path that
// learns is repeated, the edge becomes a chain: state ← first, first ← second, …, so that none of
// them takes bytes of its own.
//
// Needs kernels to be selected, as they say what runs in place. Returns whether a copy was added;
// the copies have no kernel yet.
bool LegalizeUpdates(Graph& graph);

}  // namespace cgrun

#endif  // CGRUN_PLAN_UPDATE_LEGALITY_H_
