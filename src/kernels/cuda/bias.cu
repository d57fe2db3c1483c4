// Computes bias: it adds the bias to x and repeats it over every axis but the channels.
#include "src/kernels/cuda/channel_bias.cuh"
#include "src/kernels/cuda/kernels.h"

namespace cgrun::cuda {

template <class T>
struct Bias {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ChannelSizes*>(i.parameters);
    AddChannelBias(context, p, Data<const T>(context, i, 0), Data<const T>(context, i, 1),
                   Data<T>(context, i, 2));
  }
};

static PreparedKernel PrepareBias(const KernelRequest& request) {
  const TensorType& x = request.node.inputs[0];
  return PreparedKernel::Of(ForFloat<Bias>(x.dtype), ChannelSizes::Of(x.shape));
}

KernelDef bias() { return {.name = "cuda.bias", .supports = AllFloat, .prepare = PrepareBias}; }

}  // namespace cgrun::cuda
