// Says where the windows of a convolution lie. The taps of every pixel lie at pixel + tap, without
// a question about bounds. This file declares the offsets of both in an image.
#ifndef CGRUN_KERNELS_CPU_CONV_GEOMETRY_H_
#define CGRUN_KERNELS_CPU_CONV_GEOMETRY_H_

#include <vector>

#include "src/ir/signature.h"
#include "src/kernels/conv_sizes.h"

namespace cgrun::cpu {

// The window of images that are one pixel wide has its axes exchanged.
struct ConvGeometry : ConvSizes {
  // The planes that windows lie in: x's own, or copies with what they see of the padding.
  bool padded = false;
  int64_t rows = 0;
  int64_t columns = 0;

  int64_t padded_elements() const { return padded ? channels * rows * columns : 0; }

  // Returns the offset in such planes of each tap (channel, u, v) from the corner of its window.
  std::vector<int64_t> TapOffsets() const;
  // Returns the offset in such planes of the corner of each output's window.
  std::vector<int64_t> PixelOffsets() const;
};

// The node is conv, conv_input_grad, conv_weight_grad or conv_transpose. It may also be a fused
// node that begins with conv, or that has one of these gradients behind another operator.
ConvGeometry ConvGeometryOf(const NodeSignature& node);

// Pixels side by side in the image and in a tile of outputs: `count` from offset `from`, each
// `stride` of the window further, are columns `column` and on.
struct PixelRun {
  int64_t from = 0;
  int32_t column = 0;
  int32_t count = 0;
};

// Describes the outputs of an image in tiles of `width` columns. Each tile is a list of runs. A run
// has at most the `most` pixels that PixelTilesOf is given.
struct PixelTiles {
  int64_t width = 0;  // columns
  std::vector<PixelRun> runs;
  std::vector<int64_t> begin;  // the first run of each tile; at the end the number of runs

  int64_t count() const { return static_cast<int64_t>(begin.size()) - 1; }
};

PixelTiles PixelTilesOf(const ConvGeometry& geometry, int64_t width, int64_t most);

// These functions copy `image` into the middle of planes of zeros, and back.
void CopyIntoPadded(const ConvGeometry& g, const float* image, float* planes) noexcept;
void CopyFromPadded(const ConvGeometry& g, const float* planes, float* image) noexcept;

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_CONV_GEOMETRY_H_
