// Declares the attributes of random_crop and of its gradient, and where the part of a sample
// begins.
#ifndef CGRUN_OPS_RANDOM_CROP_H_
#define CGRUN_OPS_RANDOM_CROP_H_

#include <array>
#include <cstdint>

#include "src/ir/attributes.h"

namespace cgrun {

struct RandomCropAttributes {
  IntList size;        // height, width
  int64_t key = 0;     // of the random numbers: RandomKey(seed, name of the node)
  bool varied = true;  // false: the part in the middle of every sample

  static const AttributeSchema& Schema();
};

struct RandomCropGradAttributes {
  IntList size;
  int64_t key = 0;
  bool varied = true;
  Shape shape;  // of the images that were cropped

  static const AttributeSchema& Schema();
};

// Says where parts may begin: row and column each from 0 to room, the bounds included.
struct CropRoom {
  uint64_t key = 0;
  bool varied = true;
  std::array<int64_t, 2> room{};

  // Returns the first row and column of the part of sample `n` at a step.
  std::array<int64_t, 2> OffsetOf(uint64_t step, int64_t n) const;
};

}  // namespace cgrun

#endif  // CGRUN_OPS_RANDOM_CROP_H_
