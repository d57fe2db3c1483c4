// Declares type inference that operators of boxes share. Each function reports what is wrong.
#ifndef CGRUN_OPS_BOX_INPUT_H_
#define CGRUN_OPS_BOX_INPUT_H_

#include <string_view>

#include "src/ir/op_def.h"

namespace cgrun {

// Describes how deltas move a box, for OpDef::details.
inline constexpr std::string_view kDeltasDoc =
    "Boxes are [x1, y1, x2, y2] in pixels of the image. Deltas [dx, dy, dw, dh], each times its "
    "number of `std`, move the centre of a box by dx·width and dy·height, and make it e^dw times "
    "as wide and e^dh times as high (Ren et al., Faster R-CNN, 2015); then it is cut off at the "
    "edges of the image. ";

// Returns whether inputs 0 to `count` − 1 are of one type that coordinates can have, f32 or f64: in
// bf16 they would be off by pixels.
bool ExpectCoordinates(InferContext& context, int count);
// Returns whether there are four `std`, one a delta, none of them infinite.
bool ExpectFourStd(InferContext& context, const RealList& std);
// Returns whether input `i`, called `name`, has shape `wanted`, which depends on `other`.
bool ExpectShape(InferContext& context, int i, std::string_view name, const Shape& wanted,
                 std::string_view other);

}  // namespace cgrun

#endif  // CGRUN_OPS_BOX_INPUT_H_
