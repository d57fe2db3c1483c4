// `keep:`, values, parameters and gradients that a run leaves behind.
#ifndef CGRUN_FRONTEND_KEEP_H_
#define CGRUN_FRONTEND_KEEP_H_

#include "src/frontend/frontend.h"
#include "src/frontend/names.h"

namespace cgrun {

// Makes the value that `item` names an output of the graph, of kind kKept, or notes it in `kept`
// where it is a gradient or a state.
void KeepValue(const MarkedText& item, const Names& names, Graph& graph, Kept& kept,
               Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_KEEP_H_
