// Computes neg, exp, log, sqrt, abs and the gradient of abs.
#include "src/kernels/cuda/elementwise.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/formulas.h"

namespace cgrun::cuda {

KernelDef neg() { return Elementwise<formulas::Neg, 1>::Define("cuda.neg"); }
KernelDef exp() { return Elementwise<formulas::Exp, 1>::Define("cuda.exp"); }
KernelDef log() { return Elementwise<formulas::Log, 1>::Define("cuda.log"); }
KernelDef sqrt() { return Elementwise<formulas::Sqrt, 1>::Define("cuda.sqrt"); }
KernelDef abs() { return Elementwise<formulas::Abs, 1>::Define("cuda.abs"); }
KernelDef abs_grad() { return Elementwise<formulas::AbsGrad, 2>::Define("cuda.abs_grad"); }

}  // namespace cgrun::cuda
