// Computes the sums of a group of logits, which the threads of a block find together. softmax,
// log_softmax and softmax_cross_entropy share them.
#ifndef CGRUN_KERNELS_CUDA_SOFTMAX_GROUP_CUH_
#define CGRUN_KERNELS_CUDA_SOFTMAX_GROUP_CUH_

#include <cmath>

#include "src/kernels/axis_groups.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"

namespace cgrun::cuda {

// The offset of a group's first element.
inline __device__ int64_t FirstOf(const AxisGroups& groups, int64_t g) {
  return g / groups.stride * groups.size * groups.stride + g % groups.stride;
}

// Holds the largest logit of a group without NaN, and two sums over the group: Σ e^(x − max) and Σ
// (x − max).
struct SoftmaxSums {
  double max;
  double exponentials;
  double differences;
};

struct JoinLargest {
  __device__ double operator()(double a, double b) const { return std::fmax(a, b); }
};

// `x` points to the first logit of the group.
template <class T>
__device__ SoftmaxSums SumsOfGroup(const T* x, const AxisGroups& groups) {
  double max = LoadF64(x[0]);
  for (int64_t c = threadIdx.x; c < groups.size; c += kThreadsPerBlock) {
    max = std::fmax(max, LoadF64(x[c * groups.stride]));
  }
  max = JoinBlock(max, JoinLargest());
  double exponentials = 0, differences = 0;
  for (int64_t c = threadIdx.x; c < groups.size; c += kThreadsPerBlock) {
    const double difference = LoadF64(x[c * groups.stride]) - max;
    exponentials += std::exp(difference);
    differences += difference;
  }
  exponentials = JoinBlock(exponentials, JoinSum());
  return {max, exponentials, JoinBlock(differences, JoinSum())};
}

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_SOFTMAX_GROUP_CUH_
