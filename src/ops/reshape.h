// Declares the attributes of reshape, and how gradients use it.
#ifndef CGRUN_OPS_RESHAPE_H_
#define CGRUN_OPS_RESHAPE_H_

#include "src/ir/attributes.h"
#include "src/ir/op_def.h"

namespace cgrun {

struct ReshapeAttributes {
  Shape shape;  // of y, with the batch axis; one size may be −1

  static const AttributeSchema& Schema();
};

// Emits a reshape of `value` to `shape`; `value` itself where it has that shape.
ValueId EmitReshape(GradientContext& context, ValueId value, Shape shape);

}  // namespace cgrun

#endif  // CGRUN_OPS_RESHAPE_H_
