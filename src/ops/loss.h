// What the losses share.
#ifndef CGRUN_OPS_LOSS_H_
#define CGRUN_OPS_LOSS_H_

#include "src/base/dtype.h"
#include "src/ir/attributes.h"

namespace cgrun {

struct SoftmaxCrossEntropyAttributes {
  double label_smoothing = 0;

  static const AttributeSchema& Schema();
};

struct AccuracyAttributes {
  int64_t top_k = 1;

  static const AttributeSchema& Schema();
};

// A loss is kept in no less than f32.
inline DType LossType(DType dtype) { return dtype == DType::kF64 ? DType::kF64 : DType::kF32; }

}  // namespace cgrun

#endif  // CGRUN_OPS_LOSS_H_
