// Declares the attributes of top_k.
#ifndef CGRUN_OPS_TOP_K_H_
#define CGRUN_OPS_TOP_K_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct TopKAttributes {
  int64_t k = 1;
  int64_t axis = -1;
  bool smallest = false;

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_TOP_K_H_
