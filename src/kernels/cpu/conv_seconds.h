// Estimates of the time of convolutions, to choose between kernels by.
#ifndef CGRUN_KERNELS_CPU_CONV_SECONDS_H_
#define CGRUN_KERNELS_CPU_CONV_SECONDS_H_

#include "src/kernels/cpu/conv_geometry.h"

namespace cgrun::cpu {

inline constexpr int64_t kLeastParallelProducts = int64_t{1} << 18;  // multiply-adds

// 1, or all threads where the convolution is worth them.
inline int ConvThreads(const ConvGeometry& g, int threads) {
  const int64_t products = g.images * g.groups * g.pixels() * g.weights();
  return products < kLeastParallelProducts ? 1 : threads;
}

double TiledConvSeconds(const NodeSignature& node, const ConvGeometry& g, int threads);

inline bool NoneIsEmpty(const NodeSignature& node) {
  for (const TensorType& type : node.inputs) {
    if (type.shape.Elements() == 0) return false;
  }
  return node.outputs[0].shape.Elements() > 0;
}

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_CONV_SECONDS_H_
