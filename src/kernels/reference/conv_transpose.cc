// Computes conv_transpose as conv_input_grad, with a bias.
#include "src/kernels/reference/conv_transpose.h"

#include "src/kernels/reference/kernels.h"
#include "src/ops/conv_transpose.h"

namespace cgrun::reference {
namespace {

template <class T, bool kBias>
struct Kernel {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ConvSizes*>(i.parameters);
    constexpr int kOutput = kBias ? 3 : 2;
    const T* bias = kBias ? Data<const T>(context, i, 2) : nullptr;
    TransposedConv<T>::Run(p, Data<const T>(context, i, 0), Data<const T>(context, i, 1), bias,
                           Data<T>(context, i, kOutput), Data<Compute<T>>(context, i, kOutput + 1));
  }
};

template <class T>
using WithBias = Kernel<T, true>;
template <class T>
using WithoutBias = Kernel<T, false>;

ConvSizes Pack(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<ConvTransposeAttributes>();
  return TransposedConvSizesOf(node.inputs[0].shape, node.outputs[0].shape, attributes.window(),
                               attributes.groups);
}

PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const DType dtype = node.inputs[0].dtype;
  const KernelFunction run =
      node.inputs.size() == 3 ? ForFloat<WithBias>(dtype) : ForFloat<WithoutBias>(dtype);
  return PreparedKernel::Of(run, Pack(node));
}

int64_t WorkspaceBytes(const NodeSignature& node, int) {
  const ConvSizes p = Pack(node);
  return PanelWorkspace(p.filters, p.channels);
}

}  // namespace

KernelDef conv_transpose() {
  return {.name = "reference.conv_transpose",
          .supports = AllFloat,
          .workspace_bytes = WorkspaceBytes,
          .prepare = Prepare};
}

}  // namespace cgrun::reference
