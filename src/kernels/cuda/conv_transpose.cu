// Computes conv_transpose as conv_input_grad, with a bias.
#include "src/kernels/cuda/conv.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/ops/conv_transpose.h"

namespace cgrun::cuda {

template <class T, bool kBias>
struct ConvTranspose {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ConvParameters*>(i.parameters);
    constexpr int kOutput = kBias ? 3 : 2;
    T* y = Data<T>(context, i, kOutput);
    RunTransposedConv(context, i, p, y, kOutput + 1);
    if constexpr (kBias) AddChannelBias(context, p.result, y, Data<const T>(context, i, 2), y);
  }
};

template <class T>
using ConvTransposeWithBias = ConvTranspose<T, true>;
template <class T>
using ConvTransposeWithoutBias = ConvTranspose<T, false>;

static ConvTask TaskOf(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<ConvTransposeAttributes>();
  return {ConvResult::kInput,
          TransposedConvSizesOf(node.inputs[0].shape, node.outputs[0].shape, attributes.window(),
                                attributes.groups),
          node.inputs[0].dtype};
}

static PreparedKernel PrepareConvTranspose(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const DType dtype = node.inputs[0].dtype;
  return PreparedKernel::Of(node.inputs.size() == 3 ? ForFloat<ConvTransposeWithBias>(dtype)
                                                    : ForFloat<ConvTransposeWithoutBias>(dtype),
                            PackConv(request, TaskOf(node)));
}

KernelDef conv_transpose() {
  return {.name = "cuda.conv_transpose",
          .supports = AllFloat,
          .prepare = PrepareConvTranspose,
          .choose = ChooseWorkspace<TaskOf>,
          .tf32 = true};
}

}  // namespace cgrun::cuda
