// `keep:`, values, parameters and gradients that a run leaves behind.
#ifndef CGRUN_FRONTEND_KEEP_H_
#define CGRUN_FRONTEND_KEEP_H_

#include <vector>

#include "src/frontend/frontend.h"
#include "src/frontend/names.h"

namespace cgrun {

// Makes the values that `items` name outputs of the graph, of kind kKept, or notes them in `kept`
// where they are gradients or states. Reports each name that nothing has.
void KeepValues(const std::vector<MarkedText>& items, const Names& names, Graph& graph, Kept& kept,
                Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_KEEP_H_
