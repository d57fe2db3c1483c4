// Computes mean_absolute_error and mean_squared_error: sums of errors in f64, by one block.
#include "src/kernels/cuda/elementwise.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/loss_formulas.h"

namespace cgrun::cuda {

template <class Formula, class T, class Target>
struct ErrorSumBody {
  int64_t elements;
  const T* prediction;
  const Target* target;
  double* sums;
  __device__ void operator()(int64_t) const {
    const double sum = SumOverBlock(elements, [&](int64_t e) {
      return Formula::template Loss<Target>(LoadF64(prediction[e]), LoadF64(target[e]));
    });
    if (threadIdx.x != 0) return;
    sums[0] = sum;
    sums[1] = static_cast<double>(elements);
  }
};

template <class Formula>
struct ErrorSum {
  template <class T, class Target>
  struct Kernel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
      ForEachGroup(context, 1,
                   ErrorSumBody<Formula, T, Target>{elements, Data<const T>(context, i, 0),
                                                    Data<const Target>(context, i, 1),
                                                    Data<double>(context, i, 2)});
    }
  };

  static PreparedKernel Prepare(const KernelRequest& request) {
    return PreparedKernel::Of(ForPredictionAndTarget<Kernel>(request.node),
                              ElementwiseParameters{request.node.inputs[0].shape.Elements()});
  }
};

KernelDef mean_absolute_error() {
  return {.name = "cuda.mean_absolute_error",
          .supports = FirstInputIsFloat,
          .prepare = ErrorSum<formulas::AbsoluteError>::Prepare};
}
KernelDef mean_squared_error() {
  return {.name = "cuda.mean_squared_error",
          .supports = FirstInputIsFloat,
          .prepare = ErrorSum<formulas::SquaredError>::Prepare};
}

}  // namespace cgrun::cuda
