// Declares the attributes of layer_norm and its gradient.
#ifndef CGRUN_OPS_LAYER_NORM_H_
#define CGRUN_OPS_LAYER_NORM_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct LayerNormAttributes {
  int64_t axis = -1;  // the first one that is normalised over; all after it are too
  double epsilon = 1e-5;
  bool affine = true;

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_LAYER_NORM_H_
