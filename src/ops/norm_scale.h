// Declares the attributes of norm_scale.
#ifndef CGRUN_OPS_NORM_SCALE_H_
#define CGRUN_OPS_NORM_SCALE_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct NormScaleAttributes {
  double norm = 1;

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_NORM_SCALE_H_
