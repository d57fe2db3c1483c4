// Computes silu and hard_swish, and their gradients.
#include "src/kernels/formulas.h"
#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {

KernelDef silu() { return Unary<formulas::Silu>::Define("reference.silu"); }
KernelDef silu_grad() { return Binary<formulas::SiluGrad>::Define("reference.silu_grad"); }
KernelDef hard_swish() { return Unary<formulas::HardSwish>::Define("reference.hard_swish"); }
KernelDef hard_swish_grad() {
  return Binary<formulas::HardSwishGrad>::Define("reference.hard_swish_grad");
}

}  // namespace cgrun::reference
