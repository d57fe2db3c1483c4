// Runs what conv, its gradients and conv_transpose share. If a library has fitting code, it runs.
// Otherwise plain loops do, a thread a result, which add in the order of the device `reference`.
#ifndef CGRUN_KERNELS_CUDA_CONV_CUH_
#define CGRUN_KERNELS_CUDA_CONV_CUH_

#include "src/kernels/cuda/channel_bias.cuh"
#include "src/kernels/cuda/library_conv.cuh"
#include "src/kernels/cuda/window.cuh"

namespace cgrun::cuda {

struct ConvParameters {
  ConvSizes sizes;
  LibraryConv library;
  ChannelSizes result;  // for the bias
};

inline int64_t ConvWorkspace(const ConvTask& task) {
  return task.dtype == DType::kF64 ? 0 : LibraryConv::WorkspaceOf(task) + kLibraryAlignment;
}

// KernelDef::choose of a kernel whose nodes are tasks so.
template <ConvTask (*Task)(const NodeSignature&)>
bool ChooseWorkspace(const NodeSignature& node, const RunSetting& setting, KernelOption* option) {
  ConvTask task = Task(node);
  task.tf32 = setting.tf32;
  option->workspace_bytes = ConvWorkspace(task);
  return true;
}

// `task` is that of the node.
inline ConvParameters PackConv(const KernelRequest& request, ConvTask task) {
  task.tf32 = request.tf32;
  ConvParameters p{task.sizes, LibraryConv::Make(task), {}};
  if (task.result != ConvResult::kWeight) {
    p.result = ChannelSizes::Of(request.node.outputs[0].shape);
  }
  return p;
}

// Runs the convolution by a library, if one was found to have code for it. Otherwise it does
// nothing and returns false. The workspace is operand `workspace`.
inline bool RunLibrary(const RunContext& context, const Instruction& i, const ConvParameters& p,
                       void* x, void* weight, const void* bias, void* y, int workspace) noexcept {
  if (!p.library.exists()) return false;
  p.library.Run(context, x, weight, bias, y,
                static_cast<std::byte*>(Aligned(Data<std::byte>(context, i, workspace))));
  return true;
}

// Computes dx of the convolution, or y of a transposed one.
template <class T>
struct TransposedConvBody {
  ConvSizes p;
  const T *dy, *weight;
  T* dx;
  __device__ void operator()(int64_t e) const {
    const WindowAxis &wy = p.window.y, &wx = p.window.x;
    const auto [plane, row, column] = PositionOf(e, wy.input, wx.input);
    const int64_t image = plane / (p.groups * p.channels);
    const int64_t channel = plane - image * p.groups * p.channels;
    const int64_t group = channel / p.channels, own = channel % p.channels;
    const int64_t output_plane = wy.output * wx.output, kernel_plane = wy.kernel * wx.kernel;
    const T* from = dy + (image * p.groups + group) * p.filters * output_plane;
    const T* filter = weight + (group * p.filters * p.channels + own) * kernel_plane;
    Compute<T> sum = 0;
    for (int64_t u = 0; u < wy.kernel; ++u) {
      const int64_t r = ReaderOf(wy, row, u);
      if (r < 0) continue;
      for (int64_t v = 0; v < wx.kernel; ++v) {
        const int64_t c = ReaderOf(wx, column, v);
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

// Operands 0 and 1 are dy and the weights.
template <class T>
void RunTransposedConv(const RunContext& context, const Instruction& i, const ConvParameters& p,
                       T* dx, int workspace) noexcept {
  T *dy = Data<T>(context, i, 0), *weight = Data<T>(context, i, 1);
  if (RunLibrary(context, i, p, dx, weight, nullptr, dy, workspace)) return;
  ForEachElement(context, p.result.elements, TransposedConvBody<T>{p.sizes, dy, weight, dx});
}

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_CONV_CUH_
