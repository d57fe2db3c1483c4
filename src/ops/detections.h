// Declares the attributes of detections.
#ifndef CGRUN_OPS_DETECTIONS_H_
#define CGRUN_OPS_DETECTIONS_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct DetectionsAttributes {
  int64_t count = 100;
  double min_score = 0.7;
  double max_iou = 0.3;
  RealList std = {0.1, 0.1, 0.2, 0.2};

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_DETECTIONS_H_
