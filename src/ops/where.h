// Declares the attributes of the gradient of where.
#ifndef CGRUN_OPS_WHERE_H_
#define CGRUN_OPS_WHERE_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct WhereGradAttributes {
  bool taken_if = true;  // the condition under which the operand was taken

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_WHERE_H_
