// Computes relu and its gradient.
#include "src/kernels/formulas.h"
#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {

KernelDef relu() { return Unary<formulas::Relu>::Define("reference.relu"); }
KernelDef relu_grad() { return Binary<formulas::ReluGrad>::Define("reference.relu_grad"); }

}  // namespace cgrun::reference
