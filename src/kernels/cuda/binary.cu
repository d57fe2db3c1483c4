// Computes add, sub, mul, div, min, max and the gradient of max.
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/strided.cuh"
#include "src/kernels/formulas.h"

namespace cgrun::cuda {

KernelDef add() { return Broadcasting<formulas::Add>::Define("cuda.add"); }
KernelDef sub() { return Broadcasting<formulas::Sub>::Define("cuda.sub"); }
KernelDef mul() { return Broadcasting<formulas::Mul>::Define("cuda.mul"); }
KernelDef div() { return Broadcasting<formulas::Div>::Define("cuda.div"); }
KernelDef min() { return Broadcasting<formulas::Min>::Define("cuda.min"); }
KernelDef max() { return Broadcasting<formulas::Max>::Define("cuda.max"); }
KernelDef max_grad() { return Broadcasting<formulas::MaxGrad, 3>::Define("cuda.max_grad"); }

}  // namespace cgrun::cuda
