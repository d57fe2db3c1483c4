// Declares the attributes of flip.
#ifndef CGRUN_OPS_FLIP_H_
#define CGRUN_OPS_FLIP_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct FlipAttributes {
  IntList axes;

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_FLIP_H_
