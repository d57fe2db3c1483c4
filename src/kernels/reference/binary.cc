// Computes add, sub, mul and div. If the shapes are equal, it is one loop. If one operand is
// broadcast, it is a strided walk.
#include "src/kernels/formulas.h"
#include "src/kernels/reference/broadcasting.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {

KernelDef add() { return Broadcasting<formulas::Add>::Define("reference.add"); }
KernelDef sub() { return Broadcasting<formulas::Sub>::Define("reference.sub"); }
KernelDef mul() { return Broadcasting<formulas::Mul>::Define("reference.mul"); }
KernelDef div() { return Broadcasting<formulas::Div>::Define("reference.div"); }

}  // namespace cgrun::reference
