// Holds the sizes of images [N, …, height, width], for kernels that go through them sample by
// sample.
#ifndef CGRUN_KERNELS_REFERENCE_IMAGE_SIZES_H_
#define CGRUN_KERNELS_REFERENCE_IMAGE_SIZES_H_

#include <cstdint>

#include "src/base/shape.h"
#include "src/ir/signature.h"

namespace cgrun::reference {

struct ImageSizes {
  int64_t samples = 0;
  int64_t planes = 1;  // of a sample
  int64_t height = 0;  // in pixels
  int64_t width = 0;

  int64_t plane() const { return height * width; }     // in elements
  int64_t sample() const { return planes * plane(); }  // in elements

  static ImageSizes Of(const Shape& images) {
    const int rows = images.rank() - 2;
    ImageSizes sizes{images[0].size, 1, images[rows].size, images[rows + 1].size};
    for (int axis = 1; axis < rows; ++axis) sizes.planes *= images[axis].size;
    return sizes;
  }
};

// `workspace_bytes` of kernels that add up output 0, images, in f64 for one sample after another.
inline int64_t SampleSumsBytes(const NodeSignature& node, int) {
  return ImageSizes::Of(node.outputs[0].shape).sample() * static_cast<int64_t>(sizeof(double));
}

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_IMAGE_SIZES_H_
