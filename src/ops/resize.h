// Declares the attributes of resize and of its gradient.
#ifndef CGRUN_OPS_RESIZE_H_
#define CGRUN_OPS_RESIZE_H_

#include <string>

#include "src/ir/attributes.h"

namespace cgrun {

// For resize_grad, `size` is that of the gradient it gives.
struct ResizeAttributes {
  IntList size;  // [height, width], or none:
  std::string mode = "bilinear";
  IntList scale = {};  // by how much y is larger than x, [down, to the right]

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_RESIZE_H_
