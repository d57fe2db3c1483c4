// Computes conv and its gradients.
#include "src/kernels/cuda/conv.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/ops/conv.h"

namespace cgrun::cuda {

template <class T>
struct ConvBody {
  ConvSizes p;
  const T *x, *weight, *bias;  // bias: null where there is none
  T* y;
  __device__ void operator()(int64_t e) const {
    const WindowAxis &wy = p.window.y, &wx = p.window.x;
    const auto [plane, row, column] = PositionOf(e, wy.output, wx.output);
    const int64_t image = plane / (p.groups * p.filters);
    const int64_t filter = plane - image * p.groups * p.filters;
    const int64_t input_plane = wy.input * wx.input, kernel_plane = wy.kernel * wx.kernel;
    const T* from = x + (image * p.groups + filter / p.filters) * p.channels * input_plane;
    const T* taps = weight + filter * p.channels * kernel_plane;
    Compute<T> sum = 0;
    for (int64_t channel = 0; channel < p.channels; ++channel) {
      for (int64_t u = 0; u < wy.kernel; ++u) {
        const int64_t r = InputOf(wy, row, u);
        if (!IsInside(wy, r)) continue;
        for (int64_t v = 0; v < wx.kernel; ++v) {
          const int64_t c = InputOf(wx, column, v);
          if (!IsInside(wx, c)) continue;
          sum += Load(taps[channel * kernel_plane + u * wx.kernel + v]) *
                 Load(from[channel * input_plane + r * wx.input + c]);
        }
      }
    }
    y[e] = Store<T>(bias == nullptr ? sum : sum + Load(bias[filter]));
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
    const T* bias = kBias ? Data<const T>(context, i, 2) : nullptr;
    const bool ran = RunLibrary(context, i, p, x, weight, bias, y, kOutput + 1);
    if (!ran) ForEachElement(context, p.result.elements, ConvBody<T>{p.sizes, x, weight, bias, y});
    if (kBias && ran && !p.library.adds_bias()) AddChannelBias(context, p.result, y, bias, y);
  }
};

template <class T>
struct ConvInputGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ConvParameters*>(i.parameters);
    RunTransposedConv(context, i, p, Data<T>(context, i, 2), 3);
  }
};

template <class T>
struct ConvWeightGradBody {
  ConvSizes p;
  const T *x, *dy;
  T* dweight;
  __device__ void operator()(int64_t e) const {
    const WindowAxis &wy = p.window.y, &wx = p.window.x;
    const auto [plane, u, v] = PositionOf(e, wy.kernel, wx.kernel);
    const int64_t filter = plane / p.channels;  // of all groups
    const int64_t channel = plane - filter * p.channels;
    const int64_t input_plane = wy.input * wx.input, output_plane = wy.output * wx.output;
    const int64_t group = filter / p.filters;
    Compute<T> sum = 0;
    for (int64_t image = 0; image < p.images; ++image) {
      const T* from = x + ((image * p.groups + group) * p.channels + channel) * input_plane;
      const T* gradient = dy + (image * p.groups * p.filters + filter) * output_plane;
      for (int64_t row = 0; row < wy.output; ++row) {
        const int64_t r = InputOf(wy, row, u);
        if (!IsInside(wy, r)) continue;
        for (int64_t column = 0; column < wx.output; ++column) {
          const int64_t c = InputOf(wx, column, v);
          if (!IsInside(wx, c)) continue;
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
    if (RunLibrary(context, i, p, x, dweight, nullptr, dy, 3)) return;
    ForEachElement(context, p.sizes.groups * p.sizes.group_weight(),
                   ConvWeightGradBody<T>{p.sizes, x, dy, dweight});
  }
};

template <class T>
using ConvWithBias = Conv<T, true>;
template <class T>
using ConvWithoutBias = Conv<T, false>;

static ConvTask TaskOfConv(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<ConvAttributes>();
  return {ConvResult::kOutput,
          ConvSizesOf(node.inputs[0].shape, node.outputs[0].shape, attributes.window(),
                      attributes.groups),
          node.inputs[0].dtype, node.inputs.size() == 3};
}

// `dy` is the input that has conv's output shape.
static ConvTask TaskOfGrad(const NodeSignature& node, ConvResult result, size_t dy) {
  const auto& attributes = node.attributes.As<ConvGradAttributes>();
  return {
      result,
      ConvSizesOf(attributes.input, node.inputs[dy].shape, attributes.window(), attributes.groups),
      node.inputs[0].dtype};
}
static ConvTask TaskOfInputGrad(const NodeSignature& node) {
  return TaskOfGrad(node, ConvResult::kInput, 0);
}
static ConvTask TaskOfWeightGrad(const NodeSignature& node) {
  return TaskOfGrad(node, ConvResult::kWeight, 1);
}

static PreparedKernel PrepareConv(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const DType dtype = node.inputs[0].dtype;
  return PreparedKernel::Of(
      node.inputs.size() == 3 ? ForFloat<ConvWithBias>(dtype) : ForFloat<ConvWithoutBias>(dtype),
      PackConv(request, TaskOfConv(node)));
}

static PreparedKernel PrepareConvInputGrad(const KernelRequest& request) {
  return PreparedKernel::Of(ForFloat<ConvInputGrad>(request.node.inputs[0].dtype),
                            PackConv(request, TaskOfInputGrad(request.node)));
}

static PreparedKernel PrepareConvWeightGrad(const KernelRequest& request) {
  return PreparedKernel::Of(ForFloat<ConvWeightGrad>(request.node.inputs[0].dtype),
                            PackConv(request, TaskOfWeightGrad(request.node)));
}

KernelDef conv() {
  return {.name = "cuda.conv",
          .supports = AllFloat,
          .prepare = PrepareConv,
          .choose = ChooseWorkspace<TaskOfConv>,
          .tf32 = true};
}
KernelDef conv_input_grad() {
  return {.name = "cuda.conv_input_grad",
          .supports = AllFloat,
          .prepare = PrepareConvInputGrad,
          .choose = ChooseWorkspace<TaskOfInputGrad>,
          .tf32 = true};
}
KernelDef conv_weight_grad() {
  return {.name = "cuda.conv_weight_grad",
          .supports = AllFloat,
          .prepare = PrepareConvWeightGrad,
          .choose = ChooseWorkspace<TaskOfWeightGrad>,
          .tf32 = true};
}

}  // namespace cgrun::cuda
