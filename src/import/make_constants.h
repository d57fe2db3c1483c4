// Operators that make tensors from sizes and numbers: constants, since their results are known
// before the model runs.
#ifndef CGRUN_IMPORT_MAKE_CONSTANTS_H_
#define CGRUN_IMPORT_MAKE_CONSTANTS_H_

#include <string_view>

#include "src/import/node_context.h"

namespace cgrun {

// Computes ConstantOfShape, Range, EyeLike and NonZero where their inputs are constants, and sets
// the result. Returns false for other nodes. Fail() where the result is above the budget of
// folding.
bool MakeConstant(NodeContext& node);

// Returns whether an operator can be imported with constant inputs alone.
bool NeedsConstants(std::string_view op_type);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_MAKE_CONSTANTS_H_
