// conv and its gradients.
#include "src/kernels/cuda/conv.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/ops/conv.h"

namespace cgrun::cuda {

template <class T>
struct ConvBody {
  ConvSizes p;
  const T *x, *weight;
  T* y;
  __device__ void operator()(int64_t e) const {
    const WindowAxis &wy = p.window.y, &wx = p.window.x;
    const int64_t column = e % wx.output, row = e / wx.output % wy.output;
    const int64_t filter = e / (wx.output * wy.output) % (p.groups * p.filters);
    const int64_t image = e / (wx.output * wy.output) / (p.groups * p.filters);
    const int64_t input_plane = wy.input * wx.input, kernel_plane = wy.kernel * wx.kernel;
    const T* from = x + (image * p.groups + filter / p.filters) * p.channels * input_plane;
    const T* taps = weight + filter * p.channels * kernel_plane;
    Compute<T> sum = 0;
    for (int64_t channel = 0; channel < p.channels; ++channel) {
      for (int64_t u = 0; u < wy.kernel; ++u) {
        const int64_t r = ConvInputOf(wy, row, u);
        if (!IsInside(r, wy)) continue;
        for (int64_t v = 0; v < wx.kernel; ++v) {
          const int64_t c = ConvInputOf(wx, column, v);
          if (!IsInside(c, wx)) continue;
          sum += Load(taps[channel * kernel_plane + u * wx.kernel + v]) *
                 Load(from[channel * input_plane + r * wx.input + c]);
        }
      }
    }
    y[e] = Store<T>(sum);
  }
};

template <class T, bool kBias>
struct Conv {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ConvParameters*>(i.parameters);
    constexpr int kOutput = kBias ? 3 : 2;
    T* x = Data<T>(context, i, 0);
    T* weight = Data<T>(context, i, 1);
    T* y = Data<T>(context, i, kOutput);
    if (p.cudnn != nullptr) {
      Check(p.cudnn->Run(StreamOf(context), x, weight, y,
                         Aligned(Data<std::byte>(context, i, kOutput + 1))));
    } else {
      ForEachElement(context, p.result.elements, ConvBody<T>{p.sizes, x, weight, y});
    }
    if constexpr (kBias) AddChannelBias(context, p.result, y, Data<const T>(context, i, 2), y);
  }
};

template <class T>
struct ConvInputGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ConvParameters*>(i.parameters);
    RunTransposedConv(context, p, Data<const T>(context, i, 0), Data<const T>(context, i, 1),
                      Data<T>(context, i, 2),
                      p.cudnn != nullptr ? Data<std::byte>(context, i, 3) : nullptr);
  }
};

template <class T>
struct ConvWeightGradBody {
  ConvSizes p;
  const T *x, *dy;
  T* dweight;
  __device__ void operator()(int64_t e) const {
    const WindowAxis &wy = p.window.y, &wx = p.window.x;
    const int64_t v = e % wx.kernel, u = e / wx.kernel % wy.kernel;
    const int64_t channel = e / (wx.kernel * wy.kernel) % p.channels;
    const int64_t filter = e / (wx.kernel * wy.kernel) / p.channels;  // of all groups
    const int64_t input_plane = wy.input * wx.input, output_plane = wy.output * wx.output;
    const int64_t group = filter / p.filters;
    Compute<T> sum = 0;
    for (int64_t image = 0; image < p.images; ++image) {
      const T* from = x + ((image * p.groups + group) * p.channels + channel) * input_plane;
      const T* gradient = dy + (image * p.groups * p.filters + filter) * output_plane;
      for (int64_t row = 0; row < wy.output; ++row) {
        const int64_t r = ConvInputOf(wy, row, u);
        if (!IsInside(r, wy)) continue;
        for (int64_t column = 0; column < wx.output; ++column) {
          const int64_t c = ConvInputOf(wx, column, v);
          if (!IsInside(c, wx)) continue;
          sum += Load(gradient[row * wx.output + column]) * Load(from[r * wx.input + c]);
        }
      }
    }
    dweight[e] = Store<T>(sum);
  }
};

template <class T>
struct ConvWeightGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ConvParameters*>(i.parameters);
    T* x = Data<T>(context, i, 0);
    T* dy = Data<T>(context, i, 1);
    T* dweight = Data<T>(context, i, 2);
    if (p.cudnn != nullptr) {
      Check(
          p.cudnn->Run(StreamOf(context), x, dweight, dy, Aligned(Data<std::byte>(context, i, 3))));
    } else {
      ForEachElement(context, p.sizes.groups * p.sizes.group_weight(),
                     ConvWeightGradBody<T>{p.sizes, x, dy, dweight});
    }
  }
};

template <class T>
using ConvWithBias = Conv<T, true>;
template <class T>
using ConvWithoutBias = Conv<T, false>;

static PreparedKernel PrepareConv(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<ConvAttributes>();
  const DType dtype = node.inputs[0].dtype;
  const ConvSizes sizes = ConvSizesOf(node.inputs[0].shape, node.outputs[0].shape,
                                      attributes.window(), attributes.groups);
  return PreparedKernel::Of(
      node.inputs.size() == 3 ? ForFloat<ConvWithBias>(dtype) : ForFloat<ConvWithoutBias>(dtype),
      PackConv(node, ConvResult::kOutput, sizes));
}

// `dy` is the input that has conv's output shape.
static ConvSizes GradSizes(const NodeSignature& node, size_t dy) {
  const auto& attributes = node.attributes.As<ConvGradAttributes>();
  return ConvSizesOf(attributes.input, node.inputs[dy].shape, attributes.window(),
                     attributes.groups);
}

static PreparedKernel PrepareConvInputGrad(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  return PreparedKernel::Of(ForFloat<ConvInputGrad>(node.inputs[0].dtype),
                            PackConv(node, ConvResult::kInput, GradSizes(node, 0)));
}

static PreparedKernel PrepareConvWeightGrad(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  return PreparedKernel::Of(ForFloat<ConvWeightGrad>(node.inputs[0].dtype),
                            PackConv(node, ConvResult::kWeight, GradSizes(node, 1)));
}

KernelDef conv() {
  return {.name = "cuda.conv",
          .supports = AllFloat,
          .workspace_bytes = PlannedConvWorkspace,
          .prepare = PrepareConv};
}
KernelDef conv_input_grad() {
  return {.name = "cuda.conv_input_grad",
          .supports = AllFloat,
          .workspace_bytes = PlannedConvWorkspace,
          .prepare = PrepareConvInputGrad};
}
KernelDef conv_weight_grad() {
  return {.name = "cuda.conv_weight_grad",
          .supports = AllFloat,
          .workspace_bytes = PlannedConvWorkspace,
          .prepare = PrepareConvWeightGrad};
}

}  // namespace cgrun::cuda
