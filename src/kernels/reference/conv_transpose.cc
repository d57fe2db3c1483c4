// Computes conv_transpose as conv_input_grad, with a bias.
#include "src/kernels/reference/conv_transpose.h"

#include "src/kernels/reference/kernels.h"
#include "src/ops/conv_transpose.h"

namespace cgrun::reference {
namespace {

template <class T, bool kBias>
struct ConvTransposeKernel {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ConvSizes*>(i.parameters);
    constexpr int kOutput = kBias ? 3 : 2;
    const T* bias = kBias ? Data<const T>(context, i, 2) : nullptr;
    TransposedConv<T>::Run(p, Data<const T>(context, i, 0), Data<const T>(context, i, 1), bias,
                           Data<T>(context, i, kOutput), Data<Compute<T>>(context, i, kOutput + 1));
  }
};

template <class T>
using ConvTransposeWithBias = ConvTransposeKernel<T, true>;
template <class T>
using ConvTransposeWithoutBias = ConvTransposeKernel<T, false>;

ConvSizes PackConvTranspose(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<ConvTransposeAttributes>();
  return TransposedConvSizesOf(node.inputs[0].shape, node.outputs[0].shape, attributes.window(),
                               attributes.groups);
}

PreparedKernel PrepareConvTranspose(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const DType dtype = node.inputs[0].dtype;
  const KernelFunction run = node.inputs.size() == 3 ? ForFloat<ConvTransposeWithBias>(dtype)
                                                     : ForFloat<ConvTransposeWithoutBias>(dtype);
  return PreparedKernel::Of(run, PackConvTranspose(node));
}

int64_t ConvTransposeWorkspaceBytes(const NodeSignature& node, int) {
  const ConvSizes p = PackConvTranspose(node);
  return PanelWorkspace(p.filters, p.channels);
}

}  // namespace

KernelDef conv_transpose() {
  return {.name = "reference.conv_transpose",
          .supports = AllFloat,
          .workspace_bytes = ConvTransposeWorkspaceBytes,
          .prepare = PrepareConvTranspose};
}

}  // namespace cgrun::reference
