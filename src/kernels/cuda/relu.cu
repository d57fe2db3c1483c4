// relu and its gradient.
#include "src/kernels/cuda/elementwise.cuh"
#include "src/kernels/cuda/kernels.h"

namespace cgrun::cuda {

struct ReluFormula {
  template <class C>
  __device__ C operator()(C x) const {
    return x < C(0) ? C(0) : x;  // a NaN is not less than 0
  }
};

struct ReluGradFormula {
  template <class C>
  __device__ C operator()(C y, C dy) const {
    return y > C(0) ? dy : C(0);
  }
};

KernelDef relu() { return Elementwise<ReluFormula, 1>::Define("cuda.relu"); }
KernelDef relu_grad() { return Elementwise<ReluGradFormula, 2>::Define("cuda.relu_grad"); }

}  // namespace cgrun::cuda
