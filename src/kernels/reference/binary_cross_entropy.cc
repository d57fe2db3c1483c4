// Computes binary_cross_entropy and its gradient, in f64.
#include "src/kernels/loss_formulas.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/losses.h"
#include "src/ops/loss.h"

namespace cgrun::reference {
namespace {

PreparedKernel PrepareBinaryCrossEntropy(const KernelRequest& request) {
  return request.node.attributes.As<BinaryCrossEntropyAttributes>().from_logits
             ? MeanLoss<formulas::OfLogits>::PrepareLoss(request)
             : MeanLoss<formulas::OfProbabilities>::PrepareLoss(request);
}

PreparedKernel PrepareBinaryCrossEntropyGrad(const KernelRequest& request) {
  const auto& a = request.node.attributes.As<BinaryCrossEntropyGradAttributes>();
  if (a.of_target) {
    return a.from_logits
               ? MeanLoss<formulas::OfTarget<formulas::OfLogits>>::PrepareGrad(request)
               : MeanLoss<formulas::OfTarget<formulas::OfProbabilities>>::PrepareGrad(request);
  }
  return a.from_logits ? MeanLoss<formulas::OfLogits>::PrepareGrad(request)
                       : MeanLoss<formulas::OfProbabilities>::PrepareGrad(request);
}

}  // namespace

KernelDef binary_cross_entropy() {
  return {.name = "reference.binary_cross_entropy",
          .supports = FirstInputIsFloat,
          .prepare = PrepareBinaryCrossEntropy};
}
KernelDef binary_cross_entropy_grad() {
  return {.name = "reference.binary_cross_entropy_grad",
          .supports = FirstInputIsFloat,
          .prepare = PrepareBinaryCrossEntropyGrad};
}

}  // namespace cgrun::reference
