// neg, exp, log, sqrt, abs and the gradient of abs.
#include <cmath>

#include "src/kernels/cuda/elementwise.cuh"
#include "src/kernels/cuda/kernels.h"

namespace cgrun::cuda {

struct NegFormula {
  template <class C>
  __device__ C operator()(C x) const {
    return -x;
  }
};

struct ExpFormula {
  template <class C>
  __device__ C operator()(C x) const {
    return std::exp(x);
  }
};

struct LogFormula {
  template <class C>
  __device__ C operator()(C x) const {
    return std::log(x);
  }
};

struct SqrtFormula {
  template <class C>
  __device__ C operator()(C x) const {
    return std::sqrt(x);
  }
};

struct AbsFormula {
  template <class C>
  __device__ C operator()(C x) const {
    return std::abs(x);
  }
};

struct AbsGradFormula {
  template <class C>
  __device__ C operator()(C x, C dy) const {
    return x > 0 ? dy : x < 0 ? -dy : C(0);
  }
};

KernelDef neg() { return Elementwise<NegFormula, 1>::Define("cuda.neg"); }
KernelDef exp() { return Elementwise<ExpFormula, 1>::Define("cuda.exp"); }
KernelDef log() { return Elementwise<LogFormula, 1>::Define("cuda.log"); }
KernelDef sqrt() { return Elementwise<SqrtFormula, 1>::Define("cuda.sqrt"); }
KernelDef abs() { return Elementwise<AbsFormula, 1>::Define("cuda.abs"); }
KernelDef abs_grad() { return Elementwise<AbsGradFormula, 2>::Define("cuda.abs_grad"); }

}  // namespace cgrun::cuda
