// Computes silu and hard_swish, and their gradients.
#include "src/kernels/cuda/elementwise.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/formulas.h"

namespace cgrun::cuda {

KernelDef silu() { return Elementwise<formulas::Silu, 1>::Define("cuda.silu"); }
KernelDef silu_grad() { return Elementwise<formulas::SiluGrad, 2>::Define("cuda.silu_grad"); }
KernelDef hard_swish() { return Elementwise<formulas::HardSwish, 1>::Define("cuda.hard_swish"); }
KernelDef hard_swish_grad() {
  return Elementwise<formulas::HardSwishGrad, 2>::Define("cuda.hard_swish_grad");
}

}  // namespace cgrun::cuda
