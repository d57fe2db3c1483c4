// Declares the attributes of one_hot.
#ifndef CGRUN_OPS_ONE_HOT_H_
#define CGRUN_OPS_ONE_HOT_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct OneHotAttributes {
  int64_t classes = 1;
  double on_value = 1;
  double off_value = 0;
  DType dtype = DType::kF32;

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_ONE_HOT_H_
