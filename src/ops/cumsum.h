// Declares the attributes of cumsum.
#ifndef CGRUN_OPS_CUMSUM_H_
#define CGRUN_OPS_CUMSUM_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct CumsumAttributes {
  int64_t axis = -1;
  bool exclusive = false;  // each sum leaves its own element out
  bool reverse = false;    // from the end of the axis on

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_CUMSUM_H_
