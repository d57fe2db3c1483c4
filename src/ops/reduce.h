// Declares the attributes of the reductions and of broadcast, and what gradients need of them.
#ifndef CGRUN_OPS_REDUCE_H_
#define CGRUN_OPS_REDUCE_H_

#include <vector>

#include "src/ir/attributes.h"
#include "src/ir/op_def.h"

namespace cgrun {

struct ReduceAttributes {
  IntList axes;  // empty: all
  bool keep_dims = false;

  static const AttributeSchema& Schema();
};

// The operator repeats the dimensions of size 1 of a tensor of the same rank. With `average`, it
// divides by the number of repetitions.
struct BroadcastAttributes {
  Shape shape;
  bool average = false;

  static const AttributeSchema& Schema();
};

// Returns `shape` without `axes` (of NormalizeAxes), or with 1 in their place.
Shape ReducedShape(const Shape& shape, const std::vector<int>& axes, bool keep_dims);

// Emits what sums `gradient` over the axes along which a tensor of `shape` was broadcast, and gives
// it that shape; `gradient` itself where nothing was.
ValueId ReduceToShape(GradientContext& context, ValueId gradient, Shape shape);

}  // namespace cgrun

#endif  // CGRUN_OPS_REDUCE_H_
