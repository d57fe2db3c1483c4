// Folds what exporters compute of shapes, and views of constants.
#ifndef CGRUN_IMPORT_FOLD_H_
#define CGRUN_IMPORT_FOLD_H_

#include "src/import/node_context.h"

namespace cgrun {

// Computes the node's result if it is a list of sizes that is known now, or a constant under
// another shape; sets it and returns true. Lists have at most 64 KiB.
bool Fold(NodeContext& node);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_FOLD_H_
