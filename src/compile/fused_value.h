// Finds out where a value went that passes have fused away.
#ifndef CGRUN_COMPILE_FUSED_VALUE_H_
#define CGRUN_COMPILE_FUSED_VALUE_H_

#include "src/ir/graph.h"

namespace cgrun {

// Returns the value of `after` whose node computes `value` of `before`. `after` is the same graph
// as `before`, but passes have run on it. The search goes along the readers of `value`, to a node
// with an operator like the value's own in its body. If there is none, the result is invalid.
ValueId FindFusedInto(const Graph& before, ValueId value, const Graph& after);

}  // namespace cgrun

#endif  // CGRUN_COMPILE_FUSED_VALUE_H_
