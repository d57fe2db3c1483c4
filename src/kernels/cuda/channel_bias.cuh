// Adding a number a channel to a tensor [N, channels, …], as bias and the convolutions do.
#ifndef CGRUN_KERNELS_CUDA_CHANNEL_BIAS_CUH_
#define CGRUN_KERNELS_CUDA_CHANNEL_BIAS_CUH_

#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"

namespace cgrun::cuda {

struct ChannelSizes {
  int64_t elements = 0;
  int64_t channels = 1;
  int64_t plane = 1;  // elements of a channel of one sample

  static ChannelSizes Of(const Shape& x) {
    return {x.Elements(), x[1].size, x.Elements() / (x[0].size * x[1].size)};
  }
};

template <class T>
struct ChannelBiasBody {
  ChannelSizes p;
  const T *x, *bias;
  T* y;
  __device__ void operator()(int64_t e) const {
    y[e] = Store<T>(Load(x[e]) + Load(bias[e / p.plane % p.channels]));
  }
};

// `y` may be `x`.
template <class T>
void AddChannelBias(const RunContext& context, const ChannelSizes& p, const T* x, const T* bias,
                    T* y) noexcept {
  ForEachElement(context, p.elements, ChannelBiasBody<T>{p, x, bias, y});
}

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_CHANNEL_BIAS_CUH_
