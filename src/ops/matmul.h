// Declares the attributes of matmul, and what other products need of it.
#ifndef CGRUN_OPS_MATMUL_H_
#define CGRUN_OPS_MATMUL_H_

#include "src/ir/attributes.h"
#include "src/ir/op_def.h"

namespace cgrun {

struct MatmulAttributes {
  bool transpose_a = false;
  bool transpose_b = false;

  static const AttributeSchema& Schema();
};

// Emits a reshape of `value` to two dimensions, all but the last axis in the first one; `value`
// itself where it has rank 2.
ValueId EmitFlattenRows(GradientContext& context, ValueId value);

}  // namespace cgrun

#endif  // CGRUN_OPS_MATMUL_H_
