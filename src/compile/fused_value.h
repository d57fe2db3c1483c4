// Where a value went that passes have fused away.
#ifndef CGRUN_COMPILE_FUSED_VALUE_H_
#define CGRUN_COMPILE_FUSED_VALUE_H_

#include "src/ir/graph.h"

namespace cgrun {

// The value of `after`, a graph that passes were run on, whose node computes what `value` of
// `before`, the same graph without them, is: found along its readers, the node has an operator like
// the value's own in its body. Invalid where there is none.
ValueId FindFusedInto(const Graph& before, ValueId value, const Graph& after);

}  // namespace cgrun

#endif  // CGRUN_COMPILE_FUSED_VALUE_H_
