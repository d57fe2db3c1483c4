// Attributes of batch_norm and its gradient.
#ifndef CGRUN_OPS_BATCH_NORM_H_
#define CGRUN_OPS_BATCH_NORM_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct BatchNormAttributes {
  double epsilon = 1e-5;
  double momentum = 0.1;
  bool training = true;

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_BATCH_NORM_H_
