// Declares the attributes of linear.
#ifndef CGRUN_OPS_LINEAR_H_
#define CGRUN_OPS_LINEAR_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct LinearAttributes {
  int64_t units = 0;
  bool bias = true;

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_LINEAR_H_
