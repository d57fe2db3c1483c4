// Declares windows that slide over the last two axes of [N, C, H, W], as convolutions and pooling
// have them. Padding and output sizes are resolved as ONNX and PyTorch do.
#ifndef CGRUN_OPS_WINDOW_H_
#define CGRUN_OPS_WINDOW_H_

#include <cstdint>
#include <optional>
#include <string>

#include "src/ir/op_def.h"

namespace cgrun {

// Describes a window along one axis. Output o reads inputs o·stride − before + k·dilation, k in [0,
// kernel). Places outside [0, input) are padding.
struct WindowAxis {
  int64_t input = 1;
  int64_t output = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t before = 0;
  int64_t after = 0;

  // Returns the input that output `o` reads at kernel position `k`. Outside [0, input) it is
  // padding.
  int64_t InputOf(int64_t o, int64_t k) const { return o * stride - before + k * dilation; }
};

struct Window {
  WindowAxis y, x;
};

// Holds the window as the user gives it.
struct WindowAttributes {
  IntList kernel;    // height, width
  IntList stride;    // empty: the kernel
  IntList padding;   // top, left, bottom, right; −1 in every place: `same`
  IntList dilation;  // vertical, horizontal
  bool ceil_mode = false;
};

// This is the greatest value of each of these attributes. It is far from an overflow.
inline constexpr double kMostWindow = 1 << 24;

// Returns whether input 0 is floating-point of shape [N, C, H, W] in which N alone depends on the
// batch; reports it where not.
bool ExpectImages(InferContext& context, std::string_view op);

// Returns the window on images of a shape [N, C, H, W]. If it does not fit, returns nothing. `same`
// makes ⌈input ÷ stride⌉ outputs and puts an odd row of padding at the end (ONNX SAME_UPPER).
// `ceil_mode` adds the window that hangs over the end, if it begins before the padding there
// (PyTorch).
std::optional<Window> WindowOn(const Shape& images, const WindowAttributes& attributes);

// Returns the same for a window that inference has checked.
Window WindowOf(const Shape& images, const WindowAttributes& attributes);

// Returns the window on the images of input 0. If it does not fit, reports that and returns
// nothing.
std::optional<Window> ExpectWindow(InferContext& context, const WindowAttributes& attributes);

// Returns whether every window has an element of the image in it; reports it where not.
bool ExpectNoEmptyWindow(InferContext& context, const Window& window);

// [N, channels, output height, output width].
Shape WindowOutput(const Shape& images, const Dim& channels, const Window& window);

}  // namespace cgrun

#endif  // CGRUN_OPS_WINDOW_H_
