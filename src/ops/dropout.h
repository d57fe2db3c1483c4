// Declares the attributes of dropout and of its gradient.
#ifndef CGRUN_OPS_DROPOUT_H_
#define CGRUN_OPS_DROPOUT_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct DropoutAttributes {
  double rate = 0.5;     // of elements that become 0, in [0, 1)
  int64_t key = 0;       // of the random numbers: RandomKey(seed, name of the node)
  bool training = true;  // false: y = x

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_DROPOUT_H_
