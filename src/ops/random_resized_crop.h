// Declares the attributes of random_resized_crop and of its gradient, and which part of a sample is
// taken.
#ifndef CGRUN_OPS_RANDOM_RESIZED_CROP_H_
#define CGRUN_OPS_RANDOM_RESIZED_CROP_H_

#include "src/ops/random_box.h"

namespace cgrun {

struct RandomResizedCropAttributes {
  IntList size;  // height, width
  RealList scale = {0.08, 1};
  RealList ratio = {0.75, 4.0 / 3};
  int64_t key = 0;     // of the random numbers: RandomKey(seed, name of the node)
  bool varied = true;  // false: the part in the middle of every sample

  static const AttributeSchema& Schema();
};

struct RandomResizedCropGradAttributes {
  IntList size;
  RealList scale;
  RealList ratio;
  int64_t key = 0;
  bool varied = true;
  Shape shape;  // of the images that were cropped

  static const AttributeSchema& Schema();
};

// Says which part of a sample becomes an image of another size.
struct CropChoice {
  BoxRange range;
  uint64_t key = 0;
  bool varied = true;
  double shape_ratio = 1;  // width of y divided by its height

  // Draws the part of sample `n` at a step, in an image of `height` by `width`.
  Box BoxOf(uint64_t step, int64_t n, int64_t height, int64_t width) const;
};

}  // namespace cgrun

#endif  // CGRUN_OPS_RANDOM_RESIZED_CROP_H_
