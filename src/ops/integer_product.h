// Declares checks that products of 8-bit integers share.
#ifndef CGRUN_OPS_INTEGER_PRODUCT_H_
#define CGRUN_OPS_INTEGER_PRODUCT_H_

#include "src/ir/op_def.h"

namespace cgrun {

// Returns whether input `i` is int8 or uint8; reports it where not.
bool ExpectBytes(InferContext& context, int i);

// Returns whether input `i` is a zero point of type `dtype`: one number, or a list of `count`;
// reports it where not.
bool ExpectZeroPoint(InferContext& context, int i, DType dtype, const Dim& count);

}  // namespace cgrun

#endif  // CGRUN_OPS_INTEGER_PRODUCT_H_
