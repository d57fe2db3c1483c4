// Computes bias: it adds the bias to x and repeats it over every axis but the channels.
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/kernels/strided.h"

namespace cgrun::reference {
namespace {

template <class T>
struct BiasKernel {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& space = *static_cast<const StridedSpace<2>*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    const T* bias = Data<const T>(context, i, 1);
    T* y = Data<T>(context, i, 2);
    ForEachIndex(space, {0, 0},
                 [=](const auto& at) { y[at[0]] = Store<T>(Load(x[at[0]]) + Load(bias[at[1]])); });
  }
};

PreparedKernel PrepareBias(const KernelRequest& request) {
  const Shape& x = request.node.inputs[0].shape;
  std::vector<int64_t> channels(static_cast<size_t>(x.rank()), 0);
  channels[1] = 1;
  return PreparedKernel::Of(ForFloat<BiasKernel>(request.node.inputs[0].dtype),
                            MakeSpace<2>(x.Sizes(), {RowMajorStrides(x), channels}));
}

}  // namespace

KernelDef bias() {
  return {.name = "reference.bias", .supports = AllFloat, .prepare = PrepareBias};
}

}  // namespace cgrun::reference
