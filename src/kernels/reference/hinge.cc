// Computes hinge and its gradient, in f64.
#include "src/kernels/loss_formulas.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/losses.h"

namespace cgrun::reference {

KernelDef hinge() { return MeanLoss<formulas::Hinge>::DefineLoss("reference.hinge"); }
KernelDef hinge_grad() { return MeanLoss<formulas::Hinge>::DefineGrad("reference.hinge_grad"); }

}  // namespace cgrun::reference
