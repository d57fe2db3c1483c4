// pow and the gradients of its operands.
#include <cmath>

#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/strided.cuh"

namespace cgrun::cuda {

struct PowFormula {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return std::pow(a, b);
  }
};

struct PowBaseGradFormula {
  template <class C>
  __device__ C operator()(C a, C b, C dy) const {
    return b == 0 ? C(0) : dy * (b * std::pow(a, b - 1));
  }
};

struct PowExponentGradFormula {
  template <class C>
  __device__ C operator()(C a, C y, C dy) const {
    const bool flat = a == 0 && std::abs(y) <= 1;
    return flat ? C(0) : dy * (y * std::log(a));
  }
};

KernelDef pow() { return Broadcasting<PowFormula>::Define("cuda.pow"); }
KernelDef pow_base_grad() {
  return Broadcasting<PowBaseGradFormula, 3>::Define("cuda.pow_base_grad");
}
KernelDef pow_exponent_grad() {
  return Broadcasting<PowExponentGradFormula, 3>::Define("cuda.pow_exponent_grad");
}

}  // namespace cgrun::cuda
