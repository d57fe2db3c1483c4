// Declares the attributes of elu.
#ifndef CGRUN_OPS_ELU_H_
#define CGRUN_OPS_ELU_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct EluAttributes {
  double alpha = 1;

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_ELU_H_
