// The messages for images, pixels and step counters that do not fit.
#include "src/ops/image_input.h"

#include <string>

#include "src/ops/infer.h"

namespace cgrun {

bool ExpectImages(InferContext& context, std::string_view op, const Shape& x) {
  const int rows = x.rank() - 2;
  if (rows >= 1 && !x[rows].batch && !x[rows + 1].batch) return true;
  context.Fail(RankMessage(op, "images [N, …, height, width]", x));
  return false;
}

bool ExpectPixels(InferContext& context) {
  if (IsFloat(context.dtype(0)) || context.dtype(0) == DType::kU8) return true;
  context.Fail("needs a uint8 or floating-point input, not " + context.input(0).ToString());
  return false;
}

bool ExpectPixelValue(InferContext& context, std::string_view attribute, double value) {
  if (context.dtype(0) != DType::kU8 || (value >= 0 && value <= 255)) return true;
  context.Fail("`" + std::string(attribute) + "` of uint8 images is from 0 to 255");
  return false;
}

bool ExpectStep(InferContext& context) {
  return ExpectInput(context, 1, "step", {DType::kI64, Shape()});
}

}  // namespace cgrun
