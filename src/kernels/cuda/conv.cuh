// What conv, its gradients and conv_transpose share: cuDNN where it has fitting code, else plain
// loops, a thread a result, which add in the order of the device `reference`.
#ifndef CGRUN_KERNELS_CUDA_CONV_CUH_
#define CGRUN_KERNELS_CUDA_CONV_CUH_

#include <algorithm>

#include "src/kernels/cuda/channel_bias.cuh"
#include "src/kernels/cuda/cudnn_conv.cuh"

namespace cgrun::cuda {

struct ConvParameters {
  ConvSizes sizes;
  std::shared_ptr<const CudnnConv> cudnn;  // null where it has no code for it
  ChannelSizes result;                     // for the bias
};

// What cuDNN may take: its copies of the operands in other layouts, and a little.
inline int64_t ConvWorkspace(const NodeSignature& node) {
  return std::min<int64_t>((1 << 20) + 2 * OperandBytes(node), 256 << 20);
}
inline int64_t PlannedConvWorkspace(const NodeSignature& node, int) {
  return node.inputs[0].dtype == DType::kF64 ? 0 : ConvWorkspace(node) + kLibraryAlignment;
}

inline ConvParameters PackConv(const NodeSignature& node, ConvResult result,
                               const ConvSizes& sizes) {
  ConvParameters p{
      sizes, CudnnConv::Make(result, sizes, node.inputs[0].dtype, ConvWorkspace(node)), {}};
  if (result != ConvResult::kWeight) p.result = ChannelSizes::Of(node.outputs[0].shape);
  return p;
}

inline __device__ bool IsInside(int64_t i, const WindowAxis& axis) {
  return i >= 0 && i < axis.input;
}
inline __device__ int64_t ConvInputOf(const WindowAxis& axis, int64_t o, int64_t k) {
  return o * axis.stride - axis.before + k * axis.dilation;
}
// The output that reads input `i` at kernel position `k`, or −1.
inline __device__ int64_t ConvReaderOf(const WindowAxis& axis, int64_t i, int64_t k) {
  const int64_t from_first = i + axis.before - k * axis.dilation;
  if (from_first < 0 || from_first % axis.stride != 0) return -1;
  const int64_t output = from_first / axis.stride;
  return output < axis.output ? output : -1;
}

// dx of the convolution, or y of a transposed one.
template <class T>
struct TransposedConvBody {
  ConvSizes p;
  const T *dy, *weight;
  T* dx;
  __device__ void operator()(int64_t e) const {
    const WindowAxis &wy = p.window.y, &wx = p.window.x;
    const int64_t column = e % wx.input, row = e / wx.input % wy.input;
    const int64_t channel = e / (wx.input * wy.input) % (p.groups * p.channels);
    const int64_t image = e / (wx.input * wy.input) / (p.groups * p.channels);
    const int64_t group = channel / p.channels, own = channel % p.channels;
    const int64_t output_plane = wy.output * wx.output, kernel_plane = wy.kernel * wx.kernel;
    const T* from = dy + (image * p.groups + group) * p.filters * output_plane;
    const T* filter = weight + (group * p.filters * p.channels + own) * kernel_plane;
    Compute<T> sum = 0;
    for (int64_t u = 0; u < wy.kernel; ++u) {
      const int64_t r = ConvReaderOf(wy, row, u);
      if (r < 0) continue;
      for (int64_t v = 0; v < wx.kernel; ++v) {
        const int64_t c = ConvReaderOf(wx, column, v);
        if (c < 0) continue;
        for (int64_t f = 0; f < p.filters; ++f) {
          sum += Load(filter[f * p.channels * kernel_plane + u * wx.kernel + v]) *
                 Load(from[f * output_plane + r * wx.output + c]);
        }
      }
    }
    dx[e] = Store<T>(sum);
  }
};

// By cuDNN or by the loops, as was prepared.
template <class T>
void RunTransposedConv(const RunContext& context, const ConvParameters& p, const T* dy,
                       const T* weight, T* dx, std::byte* workspace) noexcept {
  if (p.cudnn != nullptr) {
    Check(p.cudnn->Run(StreamOf(context), dx, const_cast<T*>(weight), const_cast<T*>(dy),
                       Aligned(workspace)));
  } else {
    ForEachElement(context, p.result.elements, TransposedConvBody<T>{p.sizes, dy, weight, dx});
  }
}

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_CONV_CUH_
