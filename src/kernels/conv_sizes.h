// The sizes of a convolution, of which every kernel of one makes its loops.
#ifndef CGRUN_KERNELS_CONV_SIZES_H_
#define CGRUN_KERNELS_CONV_SIZES_H_

#include <cstdint>

#include "src/base/shape.h"
#include "src/ops/window.h"

namespace cgrun {

// The sizes of a convolution, in elements. conv goes from x to y; its gradients and conv_transpose
// go from y to x.
struct ConvSizes {
  Window window;
  int64_t images = 0;
  int64_t groups = 1;
  int64_t channels = 0;  // of one group
  int64_t filters = 0;   // of one group

  int64_t input_plane() const { return window.y.input * window.x.input; }
  int64_t output_plane() const { return window.y.output * window.x.output; }
  int64_t kernel_plane() const { return window.y.kernel * window.x.kernel; }
  int64_t taps() const { return channels * kernel_plane(); }  // that a filter reads
  // The input and the output are those of one group of one image. The weight has the filters of one
  // group.
  int64_t group_input() const { return channels * input_plane(); }
  int64_t group_output() const { return filters * output_plane(); }
  int64_t group_weight() const { return filters * taps(); }
};

inline ConvSizes ConvSizesOf(const Shape& x, const Shape& y, const WindowAttributes& attributes,
                             int64_t groups) {
  return {WindowOf(x, attributes), x[0].size, groups, x[1].size / groups, y[1].size / groups};
}

// Returns the sizes of the convolution from y back to x, whose transpose is the conv_transpose. If
// `output_padding` makes room in y for more outputs, this convolution still has only those of x.
inline ConvSizes TransposedConvSizesOf(const Shape& x, const Shape& y,
                                       const WindowAttributes& attributes, int64_t groups) {
  ConvSizes sizes = ConvSizesOf(y, x, attributes, groups);
  sizes.window.y.output = x[2].size;
  sizes.window.x.output = x[3].size;
  return sizes;
}

}  // namespace cgrun

#endif  // CGRUN_KERNELS_CONV_SIZES_H_
