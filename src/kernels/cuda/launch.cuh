// Spreads work over the GPU: an element a thread, or a group of elements a block. A body is a
// struct of pointers and numbers with a __device__ operator().
#ifndef CGRUN_KERNELS_CUDA_LAUNCH_CUH_
#define CGRUN_KERNELS_CUDA_LAUNCH_CUH_

#include <algorithm>
#include <cstdint>

#include "src/kernels/kernel.h"

namespace cgrun::cuda {

inline constexpr unsigned kThreadsPerBlock = 256;
inline constexpr int64_t kMaxBlocks = 1 << 16;  // each then takes several elements or groups

inline cudaStream_t StreamOf(const RunContext& context) {
  return static_cast<cudaStream_t>(context.stream.handle);
}

template <class Body>
__global__ void RunElements(Body body, int64_t elements) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  int64_t e = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; e < elements; e += stride) body(e);
}

// body(e) for each element, in no order.
template <class Body>
void ForEachElement(const RunContext& context, int64_t elements, const Body& body) noexcept {
  if (elements == 0) return;
  const int64_t blocks = (elements + kThreadsPerBlock - 1) / kThreadsPerBlock;
  RunElements<<<static_cast<unsigned>(std::min(kMaxBlocks, blocks)), kThreadsPerBlock, 0,
                StreamOf(context)>>>(body, elements);
}

template <class Body>
__global__ void RunGroups(Body body, int64_t groups) {
  for (int64_t g = blockIdx.x; g < groups; g += gridDim.x) body(g);
}

// Calls body(g) for each group, in no order, by all threads of a block together.
template <class Body>
void ForEachGroup(const RunContext& context, int64_t groups, const Body& body) noexcept {
  if (groups == 0) return;
  RunGroups<<<static_cast<unsigned>(std::min(kMaxBlocks, groups)), kThreadsPerBlock, 0,
              StreamOf(context)>>>(body, groups);
}

// a ÷ b of numbers that are not negative. Most fit into 32 bits, which a GPU divides several times
// as fast.
inline __device__ int64_t Quotient(int64_t a, int64_t b) {
  if (((a | b) >> 32) == 0) return static_cast<uint32_t>(a) / static_cast<uint32_t>(b);
  return a / b;
}

inline constexpr unsigned kWarp = 32;

// One number of all threads of a warp, which its first thread gets. They are joined as a tree, so
// that the result is the same each time.
template <class Join>
__device__ double JoinWarp(double own, Join join) {
  constexpr unsigned kAllThreads = ~0u;
  for (unsigned step = kWarp / 2; step > 0; step /= 2) {
    own = join(own, __shfl_down_sync(kAllThreads, own, step));
  }
  return own;
}

// One number of all threads of a block, each of which gets it. All threads have read what they read
// before it returns.
template <class Join>
__device__ double JoinBlock(double own, Join join) {
  __shared__ double of_warps[kThreadsPerBlock / kWarp];
  own = JoinWarp(own, join);
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = own;
  __syncthreads();
  double result = of_warps[0];
  for (unsigned warp = 1; warp < kThreadsPerBlock / kWarp; ++warp) {
    result = join(result, of_warps[warp]);
  }
  __syncthreads();
  return result;
}

struct JoinSum {
  __device__ double operator()(double a, double b) const { return a + b; }
};

// Adding to −0 leaves every number as it is, −0 too.
template <class F>
__device__ double SumOverBlock(int64_t count, F f) {
  double sum = -0.0;
  for (int64_t i = threadIdx.x; i < count; i += kThreadsPerBlock) sum += f(i);
  return JoinBlock(sum, JoinSum());
}

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_LAUNCH_CUH_
