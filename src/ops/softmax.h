// Declares the attributes of softmax and of its gradient.
#ifndef CGRUN_OPS_SOFTMAX_H_
#define CGRUN_OPS_SOFTMAX_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct SoftmaxAttributes {
  int64_t axis = -1;

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_SOFTMAX_H_
