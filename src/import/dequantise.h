// Weights of quantised models become f32 while a model is imported, so that layers can own them.
#ifndef CGRUN_IMPORT_DEQUANTISE_H_
#define CGRUN_IMPORT_DEQUANTISE_H_

#include "src/import/node_context.h"

namespace cgrun {

// Computes a DequantizeLinear of constants, and sets its output. Returns false for other nodes, for
// blocks of scales, for scales that are not f32, and where the budget for such weights is used up.
bool FoldDequantised(NodeContext& node);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_DEQUANTISE_H_
