// Computes gelu and its gradient, exactly and by tanh.
#include "src/kernels/cuda/elementwise.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/formulas.h"
#include "src/ops/gelu.h"

namespace cgrun::cuda {

static bool IsExactGelu(const KernelRequest& request) {
  return request.node.attributes.As<GeluAttributes>().approximate == "none";
}

static PreparedKernel PrepareGelu(const KernelRequest& request) {
  return IsExactGelu(request)
             ? Elementwise<formulas::Gelu<formulas::ExactGelu>, 1>::Prepare(request)
             : Elementwise<formulas::Gelu<formulas::GeluByTanh>, 1>::Prepare(request);
}

static PreparedKernel PrepareGeluGrad(const KernelRequest& request) {
  return IsExactGelu(request)
             ? Elementwise<formulas::GeluGrad<formulas::ExactGelu>, 2>::Prepare(request)
             : Elementwise<formulas::GeluGrad<formulas::GeluByTanh>, 2>::Prepare(request);
}

KernelDef gelu() { return {.name = "cuda.gelu", .supports = AllFloat, .prepare = PrepareGelu}; }
KernelDef gelu_grad() {
  return {.name = "cuda.gelu_grad", .supports = AllFloat, .prepare = PrepareGeluGrad};
}

}  // namespace cgrun::cuda
