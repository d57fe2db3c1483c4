// Computes conv: for each image and group, the filters times panels of the patches that they see.
#include "src/kernels/reference/conv.h"

#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

// panel[(c, u, v)][j]: what output first + j reads, 0 on padding.
template <class T>
void PackPatches(const ConvSizes& p, const T* x, int64_t first, int64_t count, Compute<T>* panel) {
  constexpr int kColumns = kPanelColumns<Compute<T>>;
  const WindowAxis &wy = p.window.y, &wx = p.window.x;
  const Origins<kColumns> origins(p.window, first, count);
  for (int64_t c = 0; c < p.channels; ++c, x += p.input_plane()) {
    for (int64_t u = 0; u < wy.kernel; ++u) {
      for (int64_t v = 0; v < wx.kernel; ++v, panel += kColumns) {
        for (size_t j = 0; j < kColumns; ++j) {
          const int64_t row = origins.y[j] + u * wy.dilation;
          const int64_t column = origins.x[j] + v * wx.dilation;
          panel[j] =
              IsInside(row, column, p.window) ? Load(x[row * wx.input + column]) : Compute<T>(0);
        }
      }
    }
  }
}

// One group of one image. `bias` may be null.
template <class T>
void Convolve(const ConvSizes& p, const T* x, const T* weight, const T* bias, T* y,
              Compute<T>* workspace) {
  constexpr int64_t kColumns = kPanelColumns<Compute<T>>;
  const LeftFactor left{p.filters, p.taps(), p.taps(), 1};
  Compute<T>* sums = workspace + p.taps() * kColumns;
  for (int64_t first = 0; first < p.output_plane(); first += kColumns) {
    const int64_t count = std::min(kColumns, p.output_plane() - first);
    PackPatches(p, x, first, count, workspace);
    std::fill(sums, sums + p.filters * kColumns, Compute<T>(0));
    AddProduct(left, weight, workspace, sums);
    if (bias != nullptr) AddToRows(bias, p.filters, sums);
    StoreSums(sums, p.filters, count, y + first, p.output_plane());
  }
}

template <class T, bool kBias>
struct ConvKernel {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ConvSizes*>(i.parameters);
    constexpr int kOutput = kBias ? 3 : 2;
    const T* x = Data<const T>(context, i, 0);
    const T* weight = Data<const T>(context, i, 1);
    const T* bias = kBias ? Data<const T>(context, i, 2) : nullptr;
    T* y = Data<T>(context, i, kOutput);
    auto* workspace = Data<Compute<T>>(context, i, kOutput + 1);
    for (int64_t n = 0; n < p.images; ++n) {
      for (int64_t g = 0; g < p.groups; ++g) {
        Convolve<T>(p, x, weight + g * p.group_weight(), kBias ? bias + g * p.filters : nullptr, y,
                    workspace);
        x += p.group_input();
        y += p.group_output();
      }
    }
  }
};

template <class T>
using ConvWithBias = ConvKernel<T, true>;
template <class T>
using ConvWithoutBias = ConvKernel<T, false>;

ConvSizes PackConv(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<ConvAttributes>();
  return ConvSizesOf(node.inputs[0].shape, node.outputs[0].shape, attributes.window(),
                     attributes.groups);
}

PreparedKernel PrepareConv(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const DType dtype = node.inputs[0].dtype;
  const KernelFunction run =
      node.inputs.size() == 3 ? ForFloat<ConvWithBias>(dtype) : ForFloat<ConvWithoutBias>(dtype);
  return PreparedKernel::Of(run, PackConv(node));
}

int64_t ConvWorkspaceBytes(const NodeSignature& node, int) {
  const ConvSizes p = PackConv(node);
  return PanelWorkspace(p.taps(), p.filters);
}

}  // namespace

KernelDef conv() {
  return {.name = "reference.conv",
          .supports = AllFloat,
          .workspace_bytes = ConvWorkspaceBytes,
          .prepare = PrepareConv};
}

}  // namespace cgrun::reference
