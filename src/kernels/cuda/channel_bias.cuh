// Adds a number a channel to a tensor [N, channels, …], as bias and the convolutions do.
#ifndef CGRUN_KERNELS_CUDA_CHANNEL_BIAS_CUH_
#define CGRUN_KERNELS_CUDA_CHANNEL_BIAS_CUH_

#include "src/kernels/cuda/channel_parts.cuh"
#include "src/kernels/cuda/number.cuh"

namespace cgrun::cuda {

struct ChannelSizes {
  int64_t elements = 0;
  int64_t channels = 1;
  int64_t plane = 1;  // elements of a channel of one sample
  ChannelParts parts;

  static ChannelSizes Of(const Shape& x) {
    return {x.Elements(), x[1].size, x.Elements() / (x[0].size * x[1].size), ChannelParts::Of(x)};
  }
  // Returns whether a block has enough to do with one channel.
  bool fills_blocks() const { return parts.packs() && plane >= 64; }
};

template <class T>
struct ChannelBiasBody {
  ChannelSizes p;
  const T *x, *bias;
  T* y;
  __device__ void operator()(int64_t e) const {
    const int64_t planes = Quotient(e, p.plane);
    const int64_t channel = planes - Quotient(planes, p.channels) * p.channels;
    y[e] = Store<T>(Load(x[e]) + Load(bias[channel]));
  }
};

// Adds the same, but a block at a time to a part of one channel.
template <class T>
struct ChannelBiasOfPart {
  ChannelParts p;
  const T *x, *bias;
  T* y;
  __device__ void operator()(int64_t block) const {
    constexpr int kPack = ChannelParts::kPack;
    const Compute<T> own = Load(bias[block / p.parts]);
    const auto load = [&](int64_t e) { return LoadPack<kPack>(x + e); };
    p.ForElementsOf<kPack>(block, load, [&](int64_t e, Pack<T, kPack> pack) {
      for (int k = 0; k < kPack; ++k) pack.at[k] = Store<T>(Load(pack.at[k]) + own);
      StorePack(y + e, pack);
    });
  }
};

// `y` may be `x`.
template <class T>
void AddChannelBias(const RunContext& context, const ChannelSizes& p, const T* x, const T* bias,
                    T* y) noexcept {
  if (p.fills_blocks()) {
    ForEachPart(context, p.parts, ChannelBiasOfPart<T>{p.parts, x, bias, y});
  } else {
    ForEachElement(context, p.elements, ChannelBiasBody<T>{p, x, bias, y});
  }
}

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_CHANNEL_BIAS_CUH_
