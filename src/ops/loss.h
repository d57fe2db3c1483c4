// Declares what the losses share.
#ifndef CGRUN_OPS_LOSS_H_
#define CGRUN_OPS_LOSS_H_

#include "src/base/dtype.h"
#include "src/ir/attributes.h"
#include "src/ir/op_def.h"

namespace cgrun {

struct SoftmaxCrossEntropyAttributes {
  double label_smoothing = 0;
  RealList class_weights = {};  // one a class; empty: 1 each
  IntList ignore_label = {};

  static const AttributeSchema& Schema();
};

struct BinaryCrossEntropyAttributes {
  bool from_logits = true;

  static const AttributeSchema& Schema();
};

struct BinaryCrossEntropyGradAttributes {
  bool from_logits = true;
  bool of_target = false;  // else: of the prediction

  static const AttributeSchema& Schema();
};

struct HuberAttributes {
  double delta = 1;

  static const AttributeSchema& Schema();
};

struct SmoothL1Attributes {
  double beta = 1;

  static const AttributeSchema& Schema();
};

struct HuberGradAttributes {
  double delta = 1;
  double scale = 1;

  static const AttributeSchema& Schema();
};

struct RankingAttributes {
  double margin = 0;

  static const AttributeSchema& Schema();
};

struct AccuracyAttributes {
  int64_t top_k = 1;
  IntList ignore_label = {};

  static const AttributeSchema& Schema();
};

// A loss is kept in no less than f32.
inline DType LossType(DType dtype) { return dtype == DType::kF64 ? DType::kF64 : DType::kF32; }

// Returns whether inputs 0 and 1, a prediction and a target, have one floating-point type and
// shape; reports it where not.
bool CheckPair(InferContext& context);

// Returns whether input 1, a target, has the shape of input 0, which is floating-point, and its
// type or bool or an integer type; reports it where not.
bool CheckTargets(InferContext& context);

// Type inference of a loss over all elements of inputs that `check` accepts, and of its gradient,
// whose input 2 is the gradient of the loss.
std::vector<TensorType> InferLoss(InferContext& context, bool (*check)(InferContext&));
std::vector<TensorType> InferLossGrad(InferContext& context, bool (*check)(InferContext&));

// Check inputs by CheckPair() or by CheckTargets().
std::vector<TensorType> InferPairLoss(InferContext& context);
std::vector<TensorType> InferPairLossGrad(InferContext& context);
std::vector<TensorType> InferTargetLoss(InferContext& context);
std::vector<TensorType> InferTargetLossGrad(InferContext& context);

}  // namespace cgrun

#endif  // CGRUN_OPS_LOSS_H_
