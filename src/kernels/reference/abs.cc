// Computes abs and its gradient.
#include "src/kernels/formulas.h"
#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/integers.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {

KernelDef abs() { return Unary<Numeric<formulas::Abs, integers::Abs>>::Define("reference.abs"); }
KernelDef abs_grad() { return Binary<formulas::AbsGrad>::Define("reference.abs_grad"); }

}  // namespace cgrun::reference
