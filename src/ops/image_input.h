// Declares type inference that operators of images share. Each function reports what is wrong.
#ifndef CGRUN_OPS_IMAGE_INPUT_H_
#define CGRUN_OPS_IMAGE_INPUT_H_

#include <string_view>

#include "src/ir/op_def.h"

namespace cgrun {

// Returns whether `x`, which the operator `op` reads, is [N, …, height, width], N alone depending
// on the batch.
bool ExpectImages(InferContext& context, std::string_view op, const Shape& x);
// Returns whether input 0 is uint8 or floating-point.
bool ExpectPixels(InferContext& context);
// Returns whether an attribute can stand in the place of a pixel of input 0.
bool ExpectPixelValue(InferContext& context, std::string_view attribute, double value);
// Returns whether input 1 is a step counter.
bool ExpectStep(InferContext& context);

}  // namespace cgrun

#endif  // CGRUN_OPS_IMAGE_INPUT_H_
