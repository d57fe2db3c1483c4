// Computes cast between any two number types but f16.
#include "src/kernels/cuda/elementwise.cuh"
#include "src/kernels/cuda/kernels.h"

namespace cgrun::cuda {

template <class From, class To>
struct CastBody {
  const From* x;
  To* y;
  __device__ void operator()(int64_t e) const { y[e] = Convert<To>(x[e]); }
};

template <class From, class To>
struct Cast {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
    ForEachElement(context, elements,
                   CastBody<From, To>{Data<const From>(context, i, 0), Data<To>(context, i, 1)});
  }
};

static PreparedKernel PrepareCast(const KernelRequest& request) {
  const TensorType& x = request.node.inputs[0];
  const DType to = request.node.outputs[0].dtype;
  const KernelFunction run = ForEach(x.dtype, [&]<class From>(From*) {
    return ForEach(to, []<class To>(To*) -> KernelFunction { return &Cast<From, To>::Run; });
  });
  return PreparedKernel::Of(run, ElementwiseParameters{x.shape.Elements()});
}

KernelDef cast() {
  return {.name = "cuda.cast", .supports = FirstTypesAreNotF16, .prepare = PrepareCast};
}

}  // namespace cgrun::cuda
