// Losses that are means over all elements of a prediction and a target, in f64. One block adds up,
// so that the sum is the same each time.
#ifndef CGRUN_KERNELS_CUDA_MEAN_LOSS_CUH_
#define CGRUN_KERNELS_CUDA_MEAN_LOSS_CUH_

#include "src/kernels/cuda/elementwise.cuh"

namespace cgrun::cuda {

// Formula: `Loss<Target>(prediction, target)` and `Slope<Target>(prediction, target)`, both
// constexpr or __device__ members of an object that is copied to the GPU.
template <class Formula, class T, class Target>
struct MeanLossBody {
  Formula formula;
  int64_t elements;
  const T* prediction;
  const Target* target;
  LossOf<T>* loss;
  __device__ void operator()(int64_t) const {
    const double sum = SumOverBlock(elements, [&](int64_t e) {
      return formula.template Loss<Target>(LoadF64(prediction[e]), LoadF64(target[e]));
    });
    if (threadIdx.x == 0) *loss = static_cast<LossOf<T>>(sum / static_cast<double>(elements));
  }
};

template <class Formula, class T, class Target>
struct MeanLossGradBody {
  Formula formula;
  int64_t elements;
  const T* prediction;
  const Target* target;
  const LossOf<T>* gradient;  // of the loss
  T* dx;
  __device__ void operator()(int64_t e) const {
    const double factor = static_cast<double>(*gradient) / static_cast<double>(elements);
    dx[e] = StoreF64<T>(formula.template Slope<Target>(LoadF64(prediction[e]), LoadF64(target[e])) *
                        factor);
  }
};

template <class Formula>
struct MeanLoss {
  struct Parameters {
    int64_t elements = 0;
    Formula formula;
  };

  template <class T, class Target>
  struct Loss {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const auto& p = *static_cast<const Parameters*>(i.parameters);
      ForEachGroup(context, 1,
                   MeanLossBody<Formula, T, Target>{
                       p.formula, p.elements, Data<const T>(context, i, 0),
                       Data<const Target>(context, i, 1), Data<LossOf<T>>(context, i, 2)});
    }
  };

  template <class T, class Target>
  struct Grad {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const auto& p = *static_cast<const Parameters*>(i.parameters);
      ForEachElement(context, p.elements,
                     MeanLossGradBody<Formula, T, Target>{
                         p.formula, p.elements, Data<const T>(context, i, 0),
                         Data<const Target>(context, i, 1), Data<const LossOf<T>>(context, i, 2),
                         Data<T>(context, i, 3)});
    }
  };

  static PreparedKernel PrepareLossOf(const KernelRequest& request, Formula formula) {
    return PreparedKernel::Of(ForPredictionAndTarget<Loss>(request.node),
                              Parameters{request.node.inputs[0].shape.Elements(), formula});
  }
  static PreparedKernel PrepareGradOf(const KernelRequest& request, Formula formula) {
    return PreparedKernel::Of(ForPredictionAndTarget<Grad>(request.node),
                              Parameters{request.node.inputs[0].shape.Elements(), formula});
  }
  static PreparedKernel PrepareLoss(const KernelRequest& request) {
    return PrepareLossOf(request, {});
  }
  static PreparedKernel PrepareGrad(const KernelRequest& request) {
    return PrepareGradOf(request, {});
  }
  static KernelDef DefineLoss(std::string_view name) {
    return {.name = name, .supports = FirstInputIsFloat, .prepare = PrepareLoss};
  }
  static KernelDef DefineGrad(std::string_view name) {
    return {.name = name, .supports = FirstInputIsFloat, .prepare = PrepareGrad};
  }
};

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_MEAN_LOSS_CUH_
