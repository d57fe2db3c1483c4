// Computes cast between any two number types but f16.
#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

template <class From, class To>
struct Cast {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
    const From* x = Data<const From>(context, i, 0);
    To* y = Data<To>(context, i, 1);
    for (int64_t e = 0; e < elements; ++e) y[e] = Convert<To>(x[e]);
  }
};

PreparedKernel PrepareCast(const KernelRequest& request) {
  const TensorType& x = request.node.inputs[0];
  const DType to = request.node.outputs[0].dtype;
  const KernelFunction run = ForEach(x.dtype, [&]<class From>(From*) {
    return ForEach(to, []<class To>(To*) -> KernelFunction { return &Cast<From, To>::Run; });
  });
  return PreparedKernel::Of(run, ElementwiseParameters{x.shape.Elements()});
}

}  // namespace

KernelDef cast() {
  return {.name = "reference.cast", .supports = FirstTypesAreNotF16, .prepare = PrepareCast};
}

}  // namespace cgrun::reference
