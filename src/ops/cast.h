// Declares the attributes of cast.
#ifndef CGRUN_OPS_CAST_H_
#define CGRUN_OPS_CAST_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct CastAttributes {
  DType to = DType::kF32;

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_CAST_H_
