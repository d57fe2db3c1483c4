// Declares the attributes of roi_align and of its gradient.
#ifndef CGRUN_OPS_ROI_ALIGN_H_
#define CGRUN_OPS_ROI_ALIGN_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct RoiAlignAttributes {
  IntList size;     // [height, width]
  IntList strides;  // of each map: pixels of the image from one of its elements to the next
  int64_t sampling_ratio = 2;
  bool aligned = true;

  static const AttributeSchema& Schema();
};

// The gradient of one map.
struct RoiAlignGradAttributes {
  IntList size;
  IntList strides;
  int64_t sampling_ratio = 2;
  bool aligned = true;
  int64_t map = 0;  // the number of the feature map
  Shape shape;      // its shape

  RoiAlignAttributes forward() const { return {size, strides, sampling_ratio, aligned}; }
  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_ROI_ALIGN_H_
