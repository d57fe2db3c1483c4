// Declares the attributes of conv_transpose.
#ifndef CGRUN_OPS_CONV_TRANSPOSE_H_
#define CGRUN_OPS_CONV_TRANSPOSE_H_

#include "src/ir/attributes.h"
#include "src/ops/window.h"

namespace cgrun {

struct ConvTransposeAttributes {
  int64_t filters = 0;
  IntList kernel;
  IntList stride = {1, 1};
  IntList padding = {0, 0, 0, 0};
  IntList output_padding = {0, 0};
  IntList dilation = {1, 1};
  int64_t groups = 1;
  bool bias = true;

  static const AttributeSchema& Schema();
  // Returns the window of the convolution from y to x whose transpose this is.
  WindowAttributes window() const { return {kernel, stride, padding, dilation, false}; }
};

}  // namespace cgrun

#endif  // CGRUN_OPS_CONV_TRANSPOSE_H_
