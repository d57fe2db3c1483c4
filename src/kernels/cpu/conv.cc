// Computes conv by OpenBLAS: for each image and group, the filters times the matrix of patches.
#include "src/kernels/cpu/blas.h"
#include "src/kernels/cpu/conv_patches.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/cpu/tiled_conv.h"

namespace cgrun::cpu {
namespace {

template <class T, bool kBias>
struct Kernel {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ConvPatches*>(i.parameters);
    constexpr int kOutput = kBias ? 3 : 2;
    const T* x = Data<const T>(context, i, 0);
    const T* weight = Data<const T>(context, i, 1);
    const T* bias = kBias ? Data<const T>(context, i, 2) : nullptr;
    T* y = Data<T>(context, i, kOutput);
    T* workspace = p.IsImage() ? nullptr : Data<T>(context, i, kOutput + 1);
    for (int64_t n = 0; n < p.images; ++n) {
      for (int64_t g = 0; g < p.groups; ++g) {
        if (workspace != nullptr) GatherPatches(p, x, workspace);
        for (int64_t f = 0; kBias && f < p.filters; ++f) {
          std::fill_n(y + f * p.output_plane(), p.output_plane(), bias[g * p.filters + f]);
        }
        Multiply<T>(p.filters, p.output_plane(), p.taps(),
                    {weight + g * p.group_weight(), p.taps(), false},
                    {workspace != nullptr ? workspace : x, p.output_plane(), false},
                    T(kBias ? 1 : 0), y, p.output_plane());
        x += p.group_input();
        y += p.group_output();
      }
    }
  }
};

template <class T>
using WithBias = Kernel<T, true>;
template <class T>
using WithoutBias = Kernel<T, false>;

ConvPatches Pack(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<ConvAttributes>();
  return {ConvSizesOf(node.inputs[0].shape, node.outputs[0].shape, attributes.window(),
                      attributes.groups)};
}

int64_t WorkspaceBytes(const NodeSignature& node, int) {
  return Pack(node).WorkspaceBytes(node.inputs[0].dtype);
}

PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const DType dtype = node.inputs[0].dtype;
  const ConvPatches p = Pack(node);
  PrepareBlas(request.threads, dtype, p.filters, p.output_plane(), p.taps());
  return PreparedKernel::Of(
      node.inputs.size() == 3 ? ForF32OrF64<WithBias>(dtype) : ForF32OrF64<WithoutBias>(dtype), p);
}

}  // namespace

std::vector<KernelDef> conv() {
  std::vector<KernelDef> kernels;
  for (const auto& make : {depthwise_conv, direct_conv, tiled_conv}) {
    for (const KernelDef& kernel : make()) kernels.push_back(kernel);
  }
  kernels.push_back({.name = "openblas.conv",
                     .supports = FitsBlas,
                     .workspace_bytes = WorkspaceBytes,
                     .prepare = Prepare,
                     .by_team = AlwaysByTeam,
                     .flops_per_second = kBlasConvFlopsPerSecond});
  return kernels;
}

}  // namespace cgrun::cpu
