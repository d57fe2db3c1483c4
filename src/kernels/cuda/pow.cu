// Computes pow and the gradients of its operands.
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/strided.cuh"
#include "src/kernels/formulas.h"

namespace cgrun::cuda {

KernelDef pow() { return Broadcasting<formulas::Pow>::Define("cuda.pow"); }
KernelDef pow_base_grad() {
  return Broadcasting<formulas::PowBaseGrad, 3>::Define("cuda.pow_base_grad");
}
KernelDef pow_exponent_grad() {
  return Broadcasting<formulas::PowExponentGrad, 3>::Define("cuda.pow_exponent_grad");
}

}  // namespace cgrun::cuda
