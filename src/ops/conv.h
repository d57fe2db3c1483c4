// Declares the attributes of conv and its gradients.
#ifndef CGRUN_OPS_CONV_H_
#define CGRUN_OPS_CONV_H_

#include "src/ir/attributes.h"
#include "src/ops/window.h"

namespace cgrun {

struct ConvAttributes {
  int64_t filters = 0;
  IntList kernel;
  IntList stride = {1, 1};
  IntList padding = {0, 0, 0, 0};
  IntList dilation = {1, 1};
  int64_t groups = 1;
  bool bias = true;

  static const AttributeSchema& Schema();
  WindowAttributes window() const { return {kernel, stride, padding, dilation, false}; }
};

// These are the attributes of conv_input_grad and conv_weight_grad.
struct ConvGradAttributes {
  Shape input;  // of x
  IntList kernel;
  IntList stride = {1, 1};
  IntList padding = {0, 0, 0, 0};
  IntList dilation = {1, 1};
  int64_t groups = 1;

  static const AttributeSchema& Schema();
  WindowAttributes window() const { return {kernel, stride, padding, dilation, false}; }
};

// Returns the shape of a weight: [filters, channels of a group, height, width].
Shape ConvWeightShape(int64_t filters, int64_t channels, int64_t groups, const IntList& kernel);

}  // namespace cgrun

#endif  // CGRUN_OPS_CONV_H_
