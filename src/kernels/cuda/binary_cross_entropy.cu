// Computes binary_cross_entropy and its gradient, in f64.
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/mean_loss.cuh"
#include "src/kernels/loss_formulas.h"
#include "src/ops/loss.h"

namespace cgrun::cuda {

static PreparedKernel PrepareBce(const KernelRequest& request) {
  return request.node.attributes.As<BinaryCrossEntropyAttributes>().from_logits
             ? MeanLoss<formulas::OfLogits>::PrepareLoss(request)
             : MeanLoss<formulas::OfProbabilities>::PrepareLoss(request);
}

static PreparedKernel PrepareBceGrad(const KernelRequest& request) {
  const auto& a = request.node.attributes.As<BinaryCrossEntropyGradAttributes>();
  if (a.of_target) {
    return a.from_logits
               ? MeanLoss<formulas::OfTarget<formulas::OfLogits>>::PrepareGrad(request)
               : MeanLoss<formulas::OfTarget<formulas::OfProbabilities>>::PrepareGrad(request);
  }
  return a.from_logits ? MeanLoss<formulas::OfLogits>::PrepareGrad(request)
                       : MeanLoss<formulas::OfProbabilities>::PrepareGrad(request);
}

KernelDef binary_cross_entropy() {
  return {
      .name = "cuda.binary_cross_entropy", .supports = FirstInputIsFloat, .prepare = PrepareBce};
}
KernelDef binary_cross_entropy_grad() {
  return {.name = "cuda.binary_cross_entropy_grad",
          .supports = FirstInputIsFloat,
          .prepare = PrepareBceGrad};
}

}  // namespace cgrun::cuda
