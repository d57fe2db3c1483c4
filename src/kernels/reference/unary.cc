// Computes neg, exp, log and sqrt.
#include "src/kernels/formulas.h"
#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {

KernelDef exp() { return Unary<formulas::Exp>::Define("reference.exp"); }
KernelDef log() { return Unary<formulas::Log>::Define("reference.log"); }
KernelDef sqrt() { return Unary<formulas::Sqrt>::Define("reference.sqrt"); }
KernelDef neg() { return Unary<formulas::Neg>::Define("reference.neg"); }

}  // namespace cgrun::reference
