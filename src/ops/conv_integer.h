// Declares the attributes of conv_integer.
#ifndef CGRUN_OPS_CONV_INTEGER_H_
#define CGRUN_OPS_CONV_INTEGER_H_

#include "src/ir/attributes.h"
#include "src/ops/window.h"

namespace cgrun {

struct ConvIntegerAttributes {
  IntList stride = {1, 1};
  IntList padding = {0, 0, 0, 0};
  IntList dilation = {1, 1};
  int64_t groups = 1;

  static const AttributeSchema& Schema();
  // Returns the window of a weight [filters, channels of a group, height, width].
  WindowAttributes window(const Shape& weight) const {
    return {{weight[2].size, weight[3].size}, stride, padding, dilation, false};
  }
};

}  // namespace cgrun

#endif  // CGRUN_OPS_CONV_INTEGER_H_
