// Blocks put in where they are used, and what is wrong with uses of blocks and networks.
// ExpandBlocks() is the entry point.
#ifndef CGRUN_MODEL_EXPAND_BLOCKS_H_
#define CGRUN_MODEL_EXPAND_BLOCKS_H_

#include "src/base/diagnostics.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Blocks may grow to so many operators and levels.
inline constexpr int64_t kMaxExpandedOps = 100'000;
inline constexpr int kMaxBlockDepth = 64;

// Fills OpSpec::body and what belongs to it of every use of a block in networks and paths, with
// arguments and `${…}` put in, and the labels of all items. Uses of what is not there, with wrong
// arguments or inputs, or of what uses itself are errors.
void ExpandBlocks(ModelSpec& model, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_MODEL_EXPAND_BLOCKS_H_
