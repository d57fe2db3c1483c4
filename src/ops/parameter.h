// Declares the attributes of parameter.
#ifndef CGRUN_OPS_PARAMETER_H_
#define CGRUN_OPS_PARAMETER_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct ParameterAttributes {
  IntList shape;  // of y, which has no batch axis
  DType type = DType::kF32;

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_PARAMETER_H_
