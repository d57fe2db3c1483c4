// Computes softplus and its gradient.
#include "src/kernels/formulas.h"
#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {

KernelDef softplus() { return Unary<formulas::Softplus>::Define("reference.softplus"); }
KernelDef softplus_grad() {
  return Binary<formulas::SoftplusGrad>::Define("reference.softplus_grad");
}

}  // namespace cgrun::reference
