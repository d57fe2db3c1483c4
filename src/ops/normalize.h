// Declares the attributes of normalize.
#ifndef CGRUN_OPS_NORMALIZE_H_
#define CGRUN_OPS_NORMALIZE_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct NormalizeAttributes {
  double scale = 1;
  RealList mean = {0};  // one, or one a channel (axis 1)
  RealList std = {1};
  DType dtype = DType::kF32;

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_NORMALIZE_H_
