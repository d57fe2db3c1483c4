// Losses that are means over elements of predictions and targets.
#ifndef CGRUN_KERNELS_REFERENCE_LOSSES_H_
#define CGRUN_KERNELS_REFERENCE_LOSSES_H_

#include "src/kernels/reference/elementwise.h"

namespace cgrun::reference {

// Computes the mean of Formula::Loss(prediction, target) over all elements, in f64 and in index
// order. Its gradient is Formula::Slope(prediction, target). Both are templates on the targets'
// type.
template <class Formula>
struct MeanLoss {
  template <class T, class Target>
  struct Loss {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
      const T* prediction = Data<const T>(context, i, 0);
      const Target* target = Data<const Target>(context, i, 1);
      double sum = 0;
      for (int64_t e = 0; e < elements; ++e) {
        sum += Formula::template Loss<Target>(LoadF64(prediction[e]), LoadF64(target[e]));
      }
      *Data<LossOf<T>>(context, i, 2) = static_cast<LossOf<T>>(sum / static_cast<double>(elements));
    }
  };

  template <class T, class Target>
  struct Grad {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
      const T* prediction = Data<const T>(context, i, 0);
      const Target* target = Data<const Target>(context, i, 1);
      const double factor = static_cast<double>(*Data<const LossOf<T>>(context, i, 2)) /
                            static_cast<double>(elements);
      T* dx = Data<T>(context, i, 3);
      for (int64_t e = 0; e < elements; ++e) {
        dx[e] = StoreF64<T>(
            Formula::template Slope<Target>(LoadF64(prediction[e]), LoadF64(target[e])) * factor);
      }
    }
  };

  template <template <class, class> class Kernel>
  static PreparedKernel Prepare(const KernelRequest& request) {
    return PreparedKernel::Of(ForPredictionAndTarget<Kernel>(request.node),
                              ElementwiseParameters{request.node.inputs[0].shape.Elements()});
  }
  static PreparedKernel PrepareLoss(const KernelRequest& request) { return Prepare<Loss>(request); }
  static PreparedKernel PrepareGrad(const KernelRequest& request) { return Prepare<Grad>(request); }
  static KernelDef DefineLoss(std::string_view name) {
    return {.name = name, .supports = FirstInputIsFloat, .prepare = PrepareLoss};
  }
  static KernelDef DefineGrad(std::string_view name) {
    return {.name = name, .supports = FirstInputIsFloat, .prepare = PrepareGrad};
  }
};

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_LOSSES_H_
