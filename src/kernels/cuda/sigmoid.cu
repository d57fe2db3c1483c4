// Computes sigmoid, tanh and their gradients.
#include "src/kernels/cuda/elementwise.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/formulas.h"

namespace cgrun::cuda {

KernelDef sigmoid() { return Elementwise<formulas::Sigmoid, 1>::Define("cuda.sigmoid"); }
KernelDef sigmoid_grad() {
  return Elementwise<formulas::SigmoidGrad, 2>::Define("cuda.sigmoid_grad");
}
KernelDef tanh() { return Elementwise<formulas::Tanh, 1>::Define("cuda.tanh"); }
KernelDef tanh_grad() { return Elementwise<formulas::TanhGrad, 2>::Define("cuda.tanh_grad"); }

}  // namespace cgrun::cuda
