// Answers which elements the windows of convolutions and pooling read.
#ifndef CGRUN_KERNELS_CUDA_WINDOW_CUH_
#define CGRUN_KERNELS_CUDA_WINDOW_CUH_

#include "src/kernels/cuda/launch.cuh"
#include "src/ops/window.h"

namespace cgrun::cuda {

// The input that output `o` reads at kernel position `k`; it may be padding.
inline __device__ int64_t InputOf(const WindowAxis& axis, int64_t o, int64_t k) {
  return o * axis.stride - axis.before + k * axis.dilation;
}

// Returns whether input `i` is none of the padding.
inline __device__ bool IsInside(const WindowAxis& axis, int64_t i) {
  return i >= 0 && i < axis.input;
}

// The output that reads input `i` at kernel position `k`, or −1.
inline __device__ int64_t ReaderOf(const WindowAxis& axis, int64_t i, int64_t k) {
  const int64_t from_first = i + axis.before - k * axis.dilation;
  if (from_first < 0) return -1;
  const int64_t output = Quotient(from_first, axis.stride);
  return output * axis.stride == from_first && output < axis.output ? output : -1;
}

// Says where element `e` of planes of height·width elements lies.
struct PlanePosition {
  int64_t plane, row, column;
};
inline __device__ PlanePosition PositionOf(int64_t e, int64_t height, int64_t width) {
  const int64_t line = Quotient(e, width), plane = Quotient(line, height);
  return {plane, line - plane * height, e - line * width};
}

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_WINDOW_CUH_
