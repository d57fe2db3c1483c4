// Attributes and shapes of the pooling operators.
#include "src/ops/pool.h"

#include "src/ops/infer.h"

namespace cgrun {
namespace {

constexpr char kKernelDoc[] = "height and width of a window; one value for both";
constexpr char kStrideDoc[] =
    "steps of the window, down and to the right; one value for both; the kernel if none is given";
constexpr char kPaddingDoc[] =
    "rows and columns around each image: top, left, bottom, right; two values are [vertical, "
    "horizontal], one is for all sides; `same` pads so that there are ⌈size ÷ stride⌉ outputs, an "
    "odd row at the end; no window may see padding alone";
constexpr char kCeilDoc[] =
    "add the last window even if it hangs over the end, unless it begins in the padding there";

// The fields that max_pool and avg_pool have in common.
template <class T>
SchemaBuilder<T> PoolSchema() {
  SchemaBuilder<T> builder;
  builder.Add("kernel", &T::kernel, kKernelDoc)
      .Required()
      .ExpandTo(2)
      .AtLeast(1)
      .AtMost(kMostWindow)
      .Add("stride", &T::stride, kStrideDoc)
      .ExpandTo(2)
      .AtLeast(1)
      .AtMost(kMostWindow)
      .Add("padding", &T::padding, kPaddingDoc)
      .ExpandTo(4)
      .AllowSame()
      .AtLeast(0)
      .AtMost(kMostWindow)
      .Add("ceil_mode", &T::ceil_mode, kCeilDoc);
  return builder;
}

}  // namespace

const AttributeSchema& MaxPoolAttributes::Schema() {
  static const AttributeSchema schema =
      PoolSchema<MaxPoolAttributes>()
          .Add("dilation", &MaxPoolAttributes::dilation,
               "distance between the elements that a window sees; one value for both axes")
          .ExpandTo(2)
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Build();
  return schema;
}

const AttributeSchema& AvgPoolAttributes::Schema() {
  static const AttributeSchema schema =
      PoolSchema<AvgPoolAttributes>()
          .Add(
              "count_include_pad", &AvgPoolAttributes::count_include_pad,
              "divide by all the positions of a window, padding too, as PyTorch does; if false, by "
              "those in the image, as ONNX does unless told otherwise")
          .Build();
  return schema;
}

const AttributeSchema& PoolGradAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<PoolGradAttributes>()
          .Add("input", &PoolGradAttributes::input, "shape of the pool's x")
          .Internal()
          .Add("kernel", &PoolGradAttributes::kernel, "as the pool's")
          .Internal()
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Add("stride", &PoolGradAttributes::stride, "as the pool's")
          .Internal()
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Add("padding", &PoolGradAttributes::padding, "as the pool's")
          .Internal()
          .AllowSame()
          .AtLeast(0)
          .AtMost(kMostWindow)
          .Add("dilation", &PoolGradAttributes::dilation, "as the pool's")
          .Internal()
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Add("ceil_mode", &PoolGradAttributes::ceil_mode, "as the pool's")
          .Internal()
          .Add("count_include_pad", &PoolGradAttributes::count_include_pad, "as the pool's")
          .Internal()
          .Build();
  return schema;
}

DType PoolIndexType(const IntList& kernel) {
  return kernel[0] * kernel[1] <= 255 ? DType::kU8 : DType::kI32;
}

std::optional<Shape> ExpectPool(InferContext& context, std::string_view op,
                                const WindowAttributes& attributes) {
  if (!ExpectImages(context, op)) return std::nullopt;
  const auto window = ExpectWindow(context, attributes);
  if (!window || !ExpectNoEmptyWindow(context, *window)) return std::nullopt;
  const Shape y = WindowOutput(context.shape(0), context.shape(0)[1], *window);
  if (CountElements(y)) return y;
  context.Fail("an output " + y.ToString() + " is too large");
  return std::nullopt;
}

std::optional<Shape> PooledShape(const PoolGradAttributes& attributes) {
  const auto window = WindowOn(attributes.input, attributes.window());
  if (!window) return std::nullopt;
  return WindowOutput(attributes.input, attributes.input[1], *window);
}

}  // namespace cgrun
