// Determines how a path learns: its optimizer, and the parameters that its loss changes.
#ifndef CGRUN_FRONTEND_PATH_TRAINING_H_
#define CGRUN_FRONTEND_PATH_TRAINING_H_

#include <vector>

#include "src/base/diagnostics.h"
#include "src/frontend/owned_tensors.h"
#include "src/frontend/path_uses.h"
#include "src/ir/builder.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Gives path `id` of `graph` the optimizer of its spec, else that of `train`, and a learning rate
// that is fed. Uses of one path share both. Errors, also where the attributes do not go together.
void AddOptimizer(const ModelSpec& model, const PathSpec& spec, PathId id, Builder& builder,
                  Graph& graph, Diagnostics& diagnostics);

// Collects what each backprop path's loss changes: the trainable parameters of its own, or of what
// `trains` names. `uses` are the paths of the graph.
void CollectTrained(const ModelSpec& model, const std::vector<PathUse>& uses, OwnedTensors& owned,
                    Graph& graph, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_PATH_TRAINING_H_
