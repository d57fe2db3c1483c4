// softplus and its gradient.
#include <cmath>

#include "src/kernels/cuda/elementwise.cuh"
#include "src/kernels/cuda/kernels.h"

namespace cgrun::cuda {

// The exponent is never positive, so that nothing overflows.
struct SoftplusFormula {
  template <class C>
  __device__ C operator()(C x) const {
    return std::log1p(std::exp(-std::abs(x))) + (x > C(0) ? x : C(0));
  }
};

struct SoftplusGradFormula {
  template <class C>
  __device__ C operator()(C y, C dy) const {
    return dy * -std::expm1(-y);
  }
};

KernelDef softplus() { return Elementwise<SoftplusFormula, 1>::Define("cuda.softplus"); }
KernelDef softplus_grad() {
  return Elementwise<SoftplusGradFormula, 2>::Define("cuda.softplus_grad");
}

}  // namespace cgrun::cuda
