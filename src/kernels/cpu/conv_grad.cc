// Computes conv_input_grad and conv_weight_grad by OpenBLAS, as products with the matrix of
// patches.
#include "src/kernels/cpu/blas.h"
#include "src/kernels/cpu/conv_patches.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/cpu/tiled_conv.h"

namespace cgrun::cpu {
namespace {

template <class T>
struct InputGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ConvPatches*>(i.parameters);
    MultiplyTransposed(p, Data<const T>(context, i, 0), Data<const T>(context, i, 1),
                       Data<T>(context, i, 2), p.IsImage() ? nullptr : Data<T>(context, i, 3));
  }
};

// dweight ← Σ over images of dy·patchesᵀ, in the images' order.
template <class T>
struct WeightGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ConvPatches*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    const T* dy = Data<const T>(context, i, 1);
    T* dweight = Data<T>(context, i, 2);
    T* workspace = p.IsImage() ? nullptr : Data<T>(context, i, 3);
    for (int64_t n = 0; n < p.images; ++n) {
      for (int64_t g = 0; g < p.groups; ++g) {
        if (workspace != nullptr) GatherPatches(p, x, workspace);
        Multiply<T>(p.filters, p.taps(), p.output_plane(), {dy, p.output_plane(), false},
                    {workspace != nullptr ? workspace : x, p.output_plane(), true},
                    T(n == 0 ? 0 : 1), dweight + g * p.group_weight(), p.taps());
        x += p.group_input();
        dy += p.group_output();
      }
    }
  }
};

// `dy` is the input that has conv's output shape.
ConvPatches Pack(const NodeSignature& node, size_t dy) {
  const auto& attributes = node.attributes.As<ConvGradAttributes>();
  return {
      ConvSizesOf(attributes.input, node.inputs[dy].shape, attributes.window(), attributes.groups)};
}

int64_t InputGradWorkspace(const NodeSignature& node, int) {
  return Pack(node, 0).WorkspaceBytes(node.inputs[0].dtype);
}
int64_t WeightGradWorkspace(const NodeSignature& node, int) {
  return Pack(node, 1).WorkspaceBytes(node.inputs[0].dtype);
}

PreparedKernel PrepareInputGrad(const KernelRequest& request) {
  const ConvPatches p = Pack(request.node, 0);
  PrepareBlas(request.threads, request.node.inputs[0].dtype, p.taps(), p.output_plane(), p.filters);
  return PreparedKernel::Of(ForF32OrF64<InputGrad>(request.node.inputs[0].dtype), p);
}
PreparedKernel PrepareWeightGrad(const KernelRequest& request) {
  const ConvPatches p = Pack(request.node, 1);
  PrepareBlas(request.threads, request.node.inputs[0].dtype, p.filters, p.taps(), p.output_plane());
  return PreparedKernel::Of(ForF32OrF64<WeightGrad>(request.node.inputs[0].dtype), p);
}

}  // namespace

std::vector<KernelDef> conv_input_grad() {
  std::vector<KernelDef> kernels = tiled_conv_input_grad();
  kernels.push_back({.name = "openblas.conv_input_grad",
                     .supports = FitsBlas,
                     .workspace_bytes = InputGradWorkspace,
                     .prepare = PrepareInputGrad,
                     .by_team = AlwaysByTeam,
                     .flops_per_second = kBlasConvFlopsPerSecond});
  return kernels;
}

std::vector<KernelDef> conv_weight_grad() {
  std::vector<KernelDef> kernels = tiled_conv_weight_grad();
  kernels.push_back({.name = "openblas.conv_weight_grad",
                     .supports = FitsBlas,
                     .workspace_bytes = WeightGradWorkspace,
                     .prepare = PrepareWeightGrad,
                     .by_team = AlwaysByTeam,
                     .flops_per_second = kBlasConvFlopsPerSecond});
  return kernels;
}

}  // namespace cgrun::cpu
