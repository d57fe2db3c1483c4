// Computes softplus and its gradient.
#include "src/kernels/cuda/elementwise.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/formulas.h"

namespace cgrun::cuda {

KernelDef softplus() { return Elementwise<formulas::Softplus, 1>::Define("cuda.softplus"); }
KernelDef softplus_grad() {
  return Elementwise<formulas::SoftplusGrad, 2>::Define("cuda.softplus_grad");
}

}  // namespace cgrun::cuda
