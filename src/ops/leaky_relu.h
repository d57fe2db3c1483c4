// Declares the attributes of leaky_relu and of its gradient.
#ifndef CGRUN_OPS_LEAKY_RELU_H_
#define CGRUN_OPS_LEAKY_RELU_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct LeakyReluAttributes {
  double slope = 0.01;

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_LEAKY_RELU_H_
