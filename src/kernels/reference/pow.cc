// Computes pow and the gradients of its operands.
#include "src/kernels/formulas.h"
#include "src/kernels/reference/broadcasting.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {

KernelDef pow() { return Broadcasting<formulas::Pow>::Define("reference.pow"); }
KernelDef pow_base_grad() {
  return Broadcasting<formulas::PowBaseGrad, 3>::Define("reference.pow_base_grad");
}
KernelDef pow_exponent_grad() {
  return Broadcasting<formulas::PowExponentGrad, 3>::Define("reference.pow_exponent_grad");
}

}  // namespace cgrun::reference
