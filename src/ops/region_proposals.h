// Declares the attributes of region_proposals.
#ifndef CGRUN_OPS_REGION_PROPOSALS_H_
#define CGRUN_OPS_REGION_PROPOSALS_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct RegionProposalsAttributes {
  IntList strides;  // of each map
  RealList scales;  // of each map: the side of its square anchors, in pixels
  RealList ratios = {0.5, 1, 2};
  int64_t candidates = 6000;
  int64_t count = 1000;
  double max_iou = 0.7;
  RealList std = {0.1, 0.1, 0.2, 0.2};

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_REGION_PROPOSALS_H_
