// Computes absolute_error and its gradient, in f64.
#include "src/kernels/loss_formulas.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/losses.h"

namespace cgrun::reference {

KernelDef absolute_error() {
  return MeanLoss<formulas::AbsoluteError>::DefineLoss("reference.absolute_error");
}
KernelDef absolute_error_grad() {
  return MeanLoss<formulas::AbsoluteError>::DefineGrad("reference.absolute_error_grad");
}

}  // namespace cgrun::reference
