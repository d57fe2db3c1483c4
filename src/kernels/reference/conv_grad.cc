// Computes conv_input_grad and conv_weight_grad by products of panels, as conv does.
#include "src/kernels/reference/conv_transpose.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

template <class T>
struct InputGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ConvSizes*>(i.parameters);
    TransposedConv<T>::Run(p, Data<const T>(context, i, 0), Data<const T>(context, i, 1), nullptr,
                           Data<T>(context, i, 2), Data<Compute<T>>(context, i, 3));
  }
};

template <class T>
struct WeightGrad {
  using C = Compute<T>;
  static constexpr int64_t kColumns = kPanelColumns<C>;

  // panel[(i, j)][t]: what tap first + t reads for output (i, j) of one image and group.
  static void PackTaps(const ConvSizes& p, const T* x, int64_t first, int64_t count, C* panel) {
    const WindowAxis &wy = p.window.y, &wx = p.window.x;
    std::array<int64_t, kColumns> channel{}, row{}, column{};  // of the taps, for output (0, 0)
    row.fill(-(int64_t{1} << 60));
    for (int64_t t = 0; t < count; ++t) {
      const int64_t tap = first + t, at = tap % p.kernel_plane();
      channel[static_cast<size_t>(t)] = tap / p.kernel_plane() * p.input_plane();
      row[static_cast<size_t>(t)] = wy.InputOf(0, at / wx.kernel);
      column[static_cast<size_t>(t)] = wx.InputOf(0, at % wx.kernel);
    }
    for (int64_t i = 0; i < wy.output; ++i) {
      for (int64_t j = 0; j < wx.output; ++j, panel += kColumns) {
        for (size_t t = 0; t < kColumns; ++t) {
          const int64_t r = row[t] + i * wy.stride, c = column[t] + j * wx.stride;
          panel[t] = IsInside(r, c, p.window) ? Load(x[channel[t] + r * wx.input + c]) : C(0);
        }
      }
    }
  }

  // Computes the gradient of one group's filters from all images.
  static void Correlate(const ConvSizes& p, const T* x, const T* dy, T* dweight, C* workspace) {
    const LeftFactor left{p.filters, p.output_plane(), p.output_plane(), 1};
    C* sums = workspace + p.output_plane() * kColumns;
    for (int64_t first = 0; first < p.taps(); first += kColumns) {
      const int64_t count = std::min(kColumns, p.taps() - first);
      std::fill(sums, sums + p.filters * kColumns, C(0));
      for (int64_t n = 0; n < p.images; ++n) {
        PackTaps(p, x + n * p.groups * p.group_input(), first, count, workspace);
        AddProduct(left, dy + n * p.groups * p.group_output(), workspace, sums);
      }
      StoreSums(sums, p.filters, count, dweight + first, p.taps());
    }
  }

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ConvSizes*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    const T* dy = Data<const T>(context, i, 1);
    T* dweight = Data<T>(context, i, 2);
    auto* workspace = Data<C>(context, i, 3);
    for (int64_t g = 0; g < p.groups; ++g) {
      Correlate(p, x + g * p.group_input(), dy + g * p.group_output(),
                dweight + g * p.group_weight(), workspace);
    }
  }
};

// `dy` is the input that has conv's output shape.
ConvSizes PackConvGrad(const NodeSignature& node, size_t dy) {
  const auto& attributes = node.attributes.As<ConvGradAttributes>();
  return ConvSizesOf(attributes.input, node.inputs[dy].shape, attributes.window(),
                     attributes.groups);
}

PreparedKernel PrepareInputGrad(const KernelRequest& request) {
  return PreparedKernel::Of(ForFloat<InputGrad>(request.node.inputs[0].dtype),
                            PackConvGrad(request.node, 0));
}
int64_t InputGradWorkspace(const NodeSignature& node, int) {
  const ConvSizes p = PackConvGrad(node, 0);
  return PanelWorkspace(p.filters, p.channels);
}

PreparedKernel PrepareWeightGrad(const KernelRequest& request) {
  return PreparedKernel::Of(ForFloat<WeightGrad>(request.node.inputs[0].dtype),
                            PackConvGrad(request.node, 1));
}
int64_t WeightGradWorkspace(const NodeSignature& node, int) {
  const ConvSizes p = PackConvGrad(node, 1);
  return PanelWorkspace(p.output_plane(), p.filters);
}

}  // namespace

KernelDef conv_input_grad() {
  return {.name = "reference.conv_input_grad",
          .supports = AllFloat,
          .workspace_bytes = InputGradWorkspace,
          .prepare = PrepareInputGrad};
}

KernelDef conv_weight_grad() {
  return {.name = "reference.conv_weight_grad",
          .supports = AllFloat,
          .workspace_bytes = WeightGradWorkspace,
          .prepare = PrepareWeightGrad};
}

}  // namespace cgrun::reference
