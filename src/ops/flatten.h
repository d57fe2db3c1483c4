// Declares the attributes of flatten.
#ifndef CGRUN_OPS_FLATTEN_H_
#define CGRUN_OPS_FLATTEN_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct FlattenAttributes {
  int64_t axis = 1;

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_FLATTEN_H_
