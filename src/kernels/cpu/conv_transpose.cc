// Computes conv_transpose by OpenBLAS: products that are scattered to y, to which the bias is
// added.
#include "src/ops/conv_transpose.h"

#include "src/kernels/cpu/blas.h"
#include "src/kernels/cpu/conv_patches.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/cpu/tiled_conv.h"

namespace cgrun::cpu {
namespace {

struct Parameters {
  ConvPatches patches;  // of the convolution from y back to x
  bool bias = false;
};

// Adds its bias to each channel of each image.
template <class T>
void AddBias(const ConvPatches& p, const T* bias, T* y) {
  const int64_t channels = p.groups * p.channels;
  for (int64_t plane = 0; plane < p.images * channels; ++plane, y += p.input_plane()) {
    const T shift = bias[plane % channels];
    for (int64_t e = 0; e < p.input_plane(); ++e) y[e] += shift;
  }
}

template <class T>
struct Kernel {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const int output = p.bias ? 3 : 2;
    T* y = Data<T>(context, i, output);
    T* workspace = p.patches.IsImage() ? nullptr : Data<T>(context, i, output + 1);
    MultiplyTransposed(p.patches, Data<const T>(context, i, 0), Data<const T>(context, i, 1), y,
                       workspace);
    if (p.bias) AddBias(p.patches, Data<const T>(context, i, 2), y);
  }
};

ConvPatches Pack(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<ConvTransposeAttributes>();
  return {TransposedConvSizesOf(node.inputs[0].shape, node.outputs[0].shape, attributes.window(),
                                attributes.groups)};
}

int64_t WorkspaceBytes(const NodeSignature& node, int) {
  return Pack(node).WorkspaceBytes(node.inputs[0].dtype);
}

PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const ConvPatches p = Pack(node);
  PrepareBlas(request.threads, node.inputs[0].dtype, p.taps(), p.output_plane(), p.filters);
  return PreparedKernel::Of(ForF32OrF64<Kernel>(node.inputs[0].dtype),
                            Parameters{p, node.inputs.size() == 3});
}

}  // namespace

std::vector<KernelDef> conv_transpose() {
  std::vector<KernelDef> kernels = tiled_conv_transpose();
  kernels.push_back({.name = "openblas.conv_transpose",
                     .supports = FitsBlas,
                     .workspace_bytes = WorkspaceBytes,
                     .prepare = Prepare,
                     .by_team = AlwaysByTeam,
                     .flops_per_second = kBlasConvFlopsPerSecond});
  return kernels;
}

}  // namespace cgrun::cpu
