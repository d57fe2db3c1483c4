// Edits that several passes make.
#ifndef CGRUN_PASSES_REWRITE_H_
#define CGRUN_PASSES_REWRITE_H_

#include "src/ir/graph.h"

namespace cgrun {

// Everything that reads `from` (nodes, outputs, updates, losses) reads `to` instead. Both have one
// type.
void ReplaceUses(Graph& graph, ValueId from, ValueId to);

// Nothing outside the graph's nodes reads the value.
bool IsInternal(const Graph& graph, ValueId value);

}  // namespace cgrun

#endif  // CGRUN_PASSES_REWRITE_H_
