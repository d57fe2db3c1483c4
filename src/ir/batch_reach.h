// Says what depends on the batch.
#ifndef CGRUN_IR_BATCH_REACH_H_
#define CGRUN_IR_BATCH_REACH_H_

#include "src/ir/graph.h"

namespace cgrun {

// Returns whether the batch is in the shape of a value of an unbound graph, or of one that it is
// computed from.
bool DependsOnBatch(const Graph& graph, ValueId value);

}  // namespace cgrun

#endif  // CGRUN_IR_BATCH_REACH_H_
