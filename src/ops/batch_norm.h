// Declares the attributes of batch_norm, of batch_norm_apply and of batch_norm_grad.
#ifndef CGRUN_OPS_BATCH_NORM_H_
#define CGRUN_OPS_BATCH_NORM_H_

#include <cmath>
#include <limits>

#include "src/ir/attributes.h"

namespace cgrun {

struct BatchNormAttributes {
  double epsilon = 1e-5;
  double momentum = 0.1;
  bool training = true;
  double min = -std::numeric_limits<double>::infinity();  // y is clipped to [min, max], which
  double max = std::numeric_limits<double>::infinity();   // contains 0; infinite: no bound

  bool clips() const { return std::isfinite(min) || std::isfinite(max); }

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_BATCH_NORM_H_
