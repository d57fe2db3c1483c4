// Declares the attributes of mod.
#ifndef CGRUN_OPS_MOD_H_
#define CGRUN_OPS_MOD_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct ModAttributes {
  bool truncate = false;  // the remainder has the sign of a, as C's fmod gives it, not that of b

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_MOD_H_
