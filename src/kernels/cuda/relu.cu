// Computes relu and its gradient.
#include "src/kernels/cuda/elementwise.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/formulas.h"

namespace cgrun::cuda {

KernelDef relu() { return Elementwise<formulas::Relu, 1>::Define("cuda.relu"); }
KernelDef relu_grad() { return Elementwise<formulas::ReluGrad, 2>::Define("cuda.relu_grad"); }

}  // namespace cgrun::cuda
