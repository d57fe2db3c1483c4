// add, sub, mul, div, min, max and the gradient of max.
#include <cmath>

#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/strided.cuh"

namespace cgrun::cuda {

struct AddFormula {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a + b;
  }
};

struct SubFormula {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a - b;
  }
};

struct MulFormula {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a * b;
  }
};

struct DivFormula {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a / b;
  }
};

// IEEE 754-2019's minimum and maximum: the sum of two operands is NaN where one of them is, and
// zeros are ordered by their signs.
struct MinFormula {
  template <class C>
  __device__ C operator()(C a, C b) const {
    if (std::isnan(a) || std::isnan(b)) return a + b;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
};

struct MaxFormula {
  template <class C>
  __device__ C operator()(C a, C b) const {
    if (std::isnan(a) || std::isnan(b)) return a + b;
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
  }
};

struct MaxGradFormula {
  template <class C>
  __device__ C operator()(C larger, C smaller, C dy) const {
    return larger < smaller ? C(0) : larger == smaller ? dy / 2 : dy;
  }
};

KernelDef add() { return Broadcasting<AddFormula>::Define("cuda.add"); }
KernelDef sub() { return Broadcasting<SubFormula>::Define("cuda.sub"); }
KernelDef mul() { return Broadcasting<MulFormula>::Define("cuda.mul"); }
KernelDef div() { return Broadcasting<DivFormula>::Define("cuda.div"); }
KernelDef min() { return Broadcasting<MinFormula>::Define("cuda.min"); }
KernelDef max() { return Broadcasting<MaxFormula>::Define("cuda.max"); }
KernelDef max_grad() { return Broadcasting<MaxGradFormula, 3>::Define("cuda.max_grad"); }

}  // namespace cgrun::cuda
