// sigmoid, tanh and their gradients.
#include <cmath>

#include "src/kernels/cuda/elementwise.cuh"
#include "src/kernels/cuda/kernels.h"

namespace cgrun::cuda {

// The exponent is never positive, so that nothing overflows.
struct SigmoidFormula {
  template <class C>
  __device__ C operator()(C x) const {
    const C e = std::exp(x < C(0) ? x : -x);
    return (x < C(0) ? e : C(1)) / (C(1) + e);
  }
};

struct SigmoidGradFormula {
  template <class C>
  __device__ C operator()(C y, C dy) const {
    return dy * y * (C(1) - y);
  }
};

struct TanhFormula {
  template <class C>
  __device__ C operator()(C x) const {
    return std::tanh(x);
  }
};

struct TanhGradFormula {
  template <class C>
  __device__ C operator()(C y, C dy) const {
    return dy * (C(1) - y * y);
  }
};

KernelDef sigmoid() { return Elementwise<SigmoidFormula, 1>::Define("cuda.sigmoid"); }
KernelDef sigmoid_grad() { return Elementwise<SigmoidGradFormula, 2>::Define("cuda.sigmoid_grad"); }
KernelDef tanh() { return Elementwise<TanhFormula, 1>::Define("cuda.tanh"); }
KernelDef tanh_grad() { return Elementwise<TanhGradFormula, 2>::Define("cuda.tanh_grad"); }

}  // namespace cgrun::cuda
