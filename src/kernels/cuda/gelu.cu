// gelu and its gradient, exact and by tanh.
#include <cmath>
#include <numbers>

#include "src/kernels/cuda/elementwise.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/ops/gelu.h"

namespace cgrun::cuda {

// Φ(x) and x·Φ'(x) of a finite x, or of NaN.
struct GeluExact {
  template <class C>
  static __device__ C Distribution(C x) {
    return std::erfc(-x / std::numbers::sqrt2_v<C>) / 2;
  }
  template <class C>
  static __device__ C SlopeTimesX(C x) {
    constexpr C kFactor = std::numbers::inv_sqrtpi_v<C> / std::numbers::sqrt2_v<C>;
    const C density = std::exp(-x * x / 2) * kFactor;
    return density > 0 ? x * density : density;  // x² may be infinite
  }
};

// (1 + tanh u)/2 is the logistic function of 2u.
struct GeluByTanh {
  template <class C>
  static __device__ C Twice() {
    return 2 * std::numbers::sqrt2_v<C> * std::numbers::inv_sqrtpi_v<C>;
  }
  template <class C>
  static __device__ C TwoU(C x) {
    return Twice<C>() * (x + static_cast<C>(0.044715) * x * x * x);
  }
  template <class C>
  static __device__ C Distribution(C x) {
    return 1 / (1 + std::exp(-TwoU(x)));
  }
  template <class C>
  static __device__ C SlopeTimesX(C x) {
    const C slope = Distribution(x) / (1 + std::exp(TwoU(x)));  // of the logistic function
    if (slope == 0) return 0;
    return x * slope * Twice<C>() * (1 + 3 * static_cast<C>(0.044715) * x * x);
  }
};

template <class Phi>
struct GeluFormula {
  template <class C>
  __device__ C operator()(C x) const {
    if (std::isinf(x)) return x > 0 ? x : C(-0.0);
    return x * Phi::Distribution(x);
  }
};

template <class Phi>
struct GeluGradFormula {
  template <class C>
  __device__ C operator()(C x, C dy) const {
    if (std::isinf(x)) return x > 0 ? dy : C(0);
    return dy * (Phi::Distribution(x) + Phi::SlopeTimesX(x));
  }
};

static bool IsExactGelu(const KernelRequest& request) {
  return request.node.attributes.As<GeluAttributes>().approximate == "none";
}

static PreparedKernel PrepareGelu(const KernelRequest& request) {
  return IsExactGelu(request) ? Elementwise<GeluFormula<GeluExact>, 1>::Prepare(request)
                              : Elementwise<GeluFormula<GeluByTanh>, 1>::Prepare(request);
}

static PreparedKernel PrepareGeluGrad(const KernelRequest& request) {
  return IsExactGelu(request) ? Elementwise<GeluGradFormula<GeluExact>, 2>::Prepare(request)
                              : Elementwise<GeluGradFormula<GeluByTanh>, 2>::Prepare(request);
}

KernelDef gelu() { return {.name = "cuda.gelu", .supports = AllFloat, .prepare = PrepareGelu}; }
KernelDef gelu_grad() {
  return {.name = "cuda.gelu_grad", .supports = AllFloat, .prepare = PrepareGeluGrad};
}

}  // namespace cgrun::cuda
