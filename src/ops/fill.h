// Declares the attributes of fill.
#ifndef CGRUN_OPS_FILL_H_
#define CGRUN_OPS_FILL_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct FillAttributes {
  double value = 0;

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_FILL_H_
