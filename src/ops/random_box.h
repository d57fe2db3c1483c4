// Chooses a random part of an image by its area and its shape, as random_resized_crop and
// random_erasing do.
#ifndef CGRUN_OPS_RANDOM_BOX_H_
#define CGRUN_OPS_RANDOM_BOX_H_

#include <cstdint>
#include <optional>
#include <string>

#include "src/ir/attributes.h"

namespace cgrun {

struct Box {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;
};

// The words with which a sample draws: 16 blocks of Philox4x32-10 each.
inline constexpr uint64_t kBoxBlocks = 16;
// The block that DrawBox never reads.
inline constexpr uint64_t kSpareBlock = kBoxBlocks - 1;

// Says which boxes are allowed. A scale is a part of the image's area, and a ratio is width divided
// by height.
struct BoxRange {
  double least_scale = 1;
  double most_scale = 1;
  double least_ratio = 1;
  double most_ratio = 1;

  // The lists must be such that FaultOfBoxRange returns nothing.
  static BoxRange Of(const RealList& scale, const RealList& ratio);
};

// Says in a sentence what is wrong with `scale` and `ratio`. If nothing is wrong, the sentence is
// empty.
std::string FaultOfBoxRange(const RealList& scale, const RealList& ratio);

// Draws a box in an image of `height` by `width` for sample `n`. Its area is equally likely, its
// ratio equally likely in its logarithm, and then every place. Ten boxes are tried, as torchvision
// does. If none fits, there is no box.
std::optional<Box> DrawBox(const BoxRange& range, uint64_t key, uint64_t step, int64_t n,
                           int64_t height, int64_t width);

// The largest box in the middle whose width divided by height is nearest to `ratio`.
Box MiddleBox(double ratio, int64_t height, int64_t width);

}  // namespace cgrun

#endif  // CGRUN_OPS_RANDOM_BOX_H_
