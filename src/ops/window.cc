// Resolving windows, axis by axis.
#include "src/ops/window.h"

#include <algorithm>

#include "src/base/check.h"
#include "src/ops/infer.h"

namespace cgrun {
namespace {

// Positions that a window covers, holes included.
int64_t Extent(const WindowAxis& axis) { return (axis.kernel - 1) * axis.dilation + 1; }

void PadToSame(WindowAxis& axis) {
  axis.output = (axis.input + axis.stride - 1) / axis.stride;
  const int64_t needed = (axis.output - 1) * axis.stride + Extent(axis) - axis.input;
  axis.before = std::max<int64_t>(needed, 0) / 2;
  axis.after = std::max<int64_t>(needed, 0) - axis.before;
}

// PyTorch's pooling_output_shape.
void CountOutputs(WindowAxis& axis, bool ceil_mode) {
  const int64_t room = axis.before + axis.input + axis.after - Extent(axis);
  const int64_t steps = room + (ceil_mode ? axis.stride - 1 : 0);
  axis.output = steps < 0 ? 0 : steps / axis.stride + 1;
  const int64_t last_begin = (axis.output - 1) * axis.stride;
  if (ceil_mode && last_begin >= axis.input + axis.before) --axis.output;
}

std::string Times(int64_t height, int64_t width) {
  return std::to_string(height) + "x" + std::to_string(width);
}

std::string Describe(const Window& window) {
  const WindowAxis &y = window.y, &x = window.x;
  std::string out = "a kernel " + Times(y.kernel, x.kernel);
  if (y.dilation != 1 || x.dilation != 1) {
    out += ", which covers " + Times(Extent(y), Extent(x)) + " by its dilation,";
  }
  return out;
}

bool HasSizes(const WindowAttributes& attributes) {
  return attributes.kernel.size() == 2 && attributes.padding.size() == 4 &&
         attributes.dilation.size() == 2 &&
         (attributes.stride.empty() || attributes.stride.size() == 2);
}

bool IsSame(const IntList& padding) { return padding == IntList{-1, -1, -1, -1}; }

// Does not check that there are outputs.
WindowAxis Resolve(int i, int64_t input, const WindowAttributes& attributes) {
  const size_t at = static_cast<size_t>(i);
  WindowAxis axis;
  axis.input = input;
  axis.kernel = attributes.kernel[at];
  axis.stride = attributes.stride.empty() ? axis.kernel : attributes.stride[at];
  axis.dilation = attributes.dilation[at];
  if (IsSame(attributes.padding)) {
    PadToSame(axis);
  } else {
    axis.before = attributes.padding[at];
    axis.after = attributes.padding[at + 2];
    CountOutputs(axis, attributes.ceil_mode);
  }
  return axis;
}

Window Resolve(const Shape& images, const WindowAttributes& attributes) {
  return {Resolve(0, images[2].size, attributes), Resolve(1, images[3].size, attributes)};
}

bool HasOutputs(const Window& window) { return window.y.output > 0 && window.x.output > 0; }

}  // namespace

bool ExpectImages(InferContext& context, std::string_view op) {
  if (!IsFloat(context.dtype(0))) {
    InferSameAsInput(context);
    return false;
  }
  const Shape& x = context.shape(0);
  if (x.rank() == 4 && !x[1].batch && !x[2].batch && !x[3].batch) return true;
  context.Fail(RankMessage(op, "[N, channels, height, width]", x));
  return false;
}

std::optional<Window> WindowOn(const Shape& images, const WindowAttributes& attributes) {
  if (images.rank() != 4 || !HasSizes(attributes)) return std::nullopt;
  const Window window = Resolve(images, attributes);
  return HasOutputs(window) ? std::optional(window) : std::nullopt;
}

Window WindowOf(const Shape& images, const WindowAttributes& attributes) {
  const std::optional<Window> window = WindowOn(images, attributes);
  CGRUN_CHECK(window.has_value()) << "no window on " << images.ToString();
  return *window;
}

std::optional<Window> ExpectWindow(InferContext& context, const WindowAttributes& attributes) {
  if (!HasSizes(attributes)) {
    context.Fail("`kernel`, `stride` and `dilation` need 2 sizes, `padding` 4");
    return std::nullopt;
  }
  const IntList& padding = attributes.padding;
  if (!IsSame(padding) && *std::min_element(padding.begin(), padding.end()) < 0) {
    context.Fail("`padding` is negative", "give `same`, or numbers that are at least 0");
    return std::nullopt;
  }
  const Window window = Resolve(context.shape(0), attributes);
  if (HasOutputs(window)) return window;
  const WindowAxis &y = window.y, &x = window.x;
  context.Fail(Describe(window) + " is larger than the images of " + context.shape(0).ToString() +
                   ", which are " +
                   Times(y.before + y.input + y.after, x.before + x.input + x.after) +
                   " with their padding",
               "make the kernel smaller, or pad");
  return std::nullopt;
}

bool ExpectNoEmptyWindow(InferContext& context, const Window& window) {
  for (const WindowAxis* axis : {&window.y, &window.x}) {
    for (int64_t o = 0; o < axis->output; ++o) {
      // The search begins at the first position at or after the image's begin.
      const int64_t start = axis->InputOf(o, 0);
      const int64_t k = start < 0 ? (-start + axis->dilation - 1) / axis->dilation : 0;
      if (k < axis->kernel && axis->InputOf(o, k) < axis->input) continue;
      const bool rows = axis == &window.y;
      context.Fail(Describe(window) + " on the images of " + context.shape(0).ToString() +
                       " would cover padding alone at output " + (rows ? "row " : "column ") +
                       std::to_string(o),
                   "pad by less");
      return false;
    }
  }
  return true;
}

Shape WindowOutput(const Shape& images, const Dim& channels, const Window& window) {
  return {images[0], channels, window.y.output, window.x.output};
}

}  // namespace cgrun
