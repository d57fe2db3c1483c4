// Computes sigmoid, tanh and their gradients.
#include "src/kernels/formulas.h"
#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {

KernelDef sigmoid() { return Unary<formulas::Sigmoid>::Define("reference.sigmoid"); }
KernelDef sigmoid_grad() { return Binary<formulas::SigmoidGrad>::Define("reference.sigmoid_grad"); }
KernelDef tanh() { return Unary<formulas::Tanh>::Define("reference.tanh"); }
KernelDef tanh_grad() { return Binary<formulas::TanhGrad>::Define("reference.tanh_grad"); }

}  // namespace cgrun::reference
