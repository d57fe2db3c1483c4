// Attributes of concat and of its gradient.
#ifndef CGRUN_OPS_CONCAT_H_
#define CGRUN_OPS_CONCAT_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct ConcatAttributes {
  int64_t axis = 1;

  static const AttributeSchema& Schema();
};

// Which part of a concatenation is wanted. Begin and size are shapes of one axis, so that they can
// depend on the batch size.
struct ConcatGradAttributes {
  int64_t axis = 1;
  Shape begin{0};
  Shape size{1};

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_CONCAT_H_
