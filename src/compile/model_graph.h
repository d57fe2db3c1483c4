// The graph of an entry point before the passes, which graph and eager mode share.
#ifndef CGRUN_COMPILE_MODEL_GRAPH_H_
#define CGRUN_COMPILE_MODEL_GRAPH_H_

#include <optional>

#include "src/compile/compile.h"

namespace cgrun {

// The model's graph with symbolic batch; of a kind that learns, with gradients and updates as
// `train` in the file says. Returns nothing after an error, which `diagnostics` holds.
std::optional<Graph> BuildModelGraph(const ModelSpec& model, EntryKind kind,
                                     const CompileOptions& options, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_COMPILE_MODEL_GRAPH_H_
