// Declares the attributes of max_pool, avg_pool and their gradients.
#ifndef CGRUN_OPS_POOL_H_
#define CGRUN_OPS_POOL_H_

#include <optional>
#include <string_view>

#include "src/ir/attributes.h"
#include "src/ops/window.h"

namespace cgrun {

struct MaxPoolAttributes {
  IntList kernel;
  IntList stride;  // empty: the kernel
  IntList padding = {0, 0, 0, 0};
  IntList dilation = {1, 1};
  bool ceil_mode = false;

  static const AttributeSchema& Schema();
  WindowAttributes window() const { return {kernel, stride, padding, dilation, ceil_mode}; }
};

struct AvgPoolAttributes {
  IntList kernel;
  IntList stride;  // empty: the kernel
  IntList padding = {0, 0, 0, 0};
  bool ceil_mode = false;
  bool count_include_pad = true;

  static const AttributeSchema& Schema();
  WindowAttributes window() const { return {kernel, stride, padding, {1, 1}, ceil_mode}; }
};

// These are the attributes of max_pool_grad, which has no count_include_pad, and of avg_pool_grad,
// which has no dilation.
struct PoolGradAttributes {
  Shape input;  // of x
  IntList kernel;
  IntList stride;
  IntList padding = {0, 0, 0, 0};
  IntList dilation = {1, 1};
  bool ceil_mode = false;
  bool count_include_pad = true;

  static const AttributeSchema& Schema();
  WindowAttributes window() const { return {kernel, stride, padding, dilation, ceil_mode}; }
};

// The number type of max_pool's second output.
DType PoolIndexType(const IntList& kernel);

// Returns the shape of the output of pooling operator `op`. If its input or its window is wrong,
// reports that and returns nothing.
std::optional<Shape> ExpectPool(InferContext& context, std::string_view op,
                                const WindowAttributes& attributes);

// Returns the shape of the output that a pool gradient expects. If its attributes fit nothing,
// returns nothing.
std::optional<Shape> PooledShape(const PoolGradAttributes& attributes);

}  // namespace cgrun

#endif  // CGRUN_OPS_POOL_H_
