// Computes squared_error and its gradient, in f64.
#include "src/kernels/loss_formulas.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/losses.h"

namespace cgrun::reference {

KernelDef squared_error() {
  return MeanLoss<formulas::SquaredError>::DefineLoss("reference.squared_error");
}
KernelDef squared_error_grad() {
  return MeanLoss<formulas::SquaredError>::DefineGrad("reference.squared_error_grad");
}

}  // namespace cgrun::reference
