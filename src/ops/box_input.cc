// The messages for boxes, deltas and their number types that do not fit.
#include "src/ops/box_input.h"

#include <cmath>
#include <string>

namespace cgrun {

bool ExpectCoordinates(InferContext& context, int count) {
  const DType dtype = context.dtype(0);
  if (dtype != DType::kF32 && dtype != DType::kF64) {
    context.Fail("needs f32 or f64, not " + context.input(0).ToString(),
                 "convert it with `cast` or `normalize` first");
    return false;
  }
  for (int i = 1; i < count; ++i) {
    if (context.dtype(i) == dtype) continue;
    context.Fail("needs inputs of one type, not " + context.input(0).ToString() + " and " +
                     context.input(i).ToString(),
                 "convert one with `cast`");
    return false;
  }
  return true;
}

bool ExpectFourStd(InferContext& context, const RealList& std) {
  if (std.size() != 4) {
    context.Fail("`std` needs 4 numbers, of dx, dy, dw and dh, not " + std::to_string(std.size()));
    return false;
  }
  for (const double one : std) {
    if (std::isfinite(one)) continue;
    context.Fail("`std` must be finite");
    return false;
  }
  return true;
}

bool ExpectShape(InferContext& context, int i, std::string_view name, const Shape& wanted,
                 std::string_view other) {
  if (context.shape(i) == wanted) return true;
  context.Fail(std::string(name) + " must be " + wanted.ToString() + " for " + std::string(other) +
               ", not " + context.shape(i).ToString());
  return false;
}

}  // namespace cgrun
