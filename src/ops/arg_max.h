// Declares the attributes of arg_max and arg_min.
#ifndef CGRUN_OPS_ARG_MAX_H_
#define CGRUN_OPS_ARG_MAX_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct ArgMaxAttributes {
  int64_t axis = -1;
  bool keep_dims = false;
  bool last = false;  // of several, the last one

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_ARG_MAX_H_
