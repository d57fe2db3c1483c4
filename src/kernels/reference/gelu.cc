// gelu and its gradient, exact and by tanh.
#include "src/ops/gelu.h"

#include <cmath>
#include <numbers>

#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

// Φ(x) and x·Φ'(x) of a finite x, or of NaN.
struct Exact {
  template <class C>
  static C Distribution(C x) {
    return std::erfc(-x / std::numbers::sqrt2_v<C>) / 2;
  }
  template <class C>
  static C SlopeTimesX(C x) {
    constexpr C kFactor = std::numbers::inv_sqrtpi_v<C> / std::numbers::sqrt2_v<C>;
    const C density = std::exp(-x * x / 2) * kFactor;
    return density > 0 ? x * density : density;  // x² may be infinite
  }
};

// (1 + tanh u)/2 is the logistic function of 2u.
struct ByTanh {
  static constexpr double kCubic = 0.044715;
  template <class C>
  static constexpr C kTwice = 2 * std::numbers::sqrt2_v<C>* std::numbers::inv_sqrtpi_v<C>;

  template <class C>
  static C TwoU(C x) {
    return kTwice<C> * (x + static_cast<C>(kCubic) * x * x * x);
  }
  template <class C>
  static C Distribution(C x) {
    return 1 / (1 + std::exp(-TwoU(x)));
  }
  template <class C>
  static C SlopeTimesX(C x) {
    const C slope = Distribution(x) / (1 + std::exp(TwoU(x)));  // of the logistic function
    if (slope == 0) return 0;
    return x * slope * kTwice<C> * (1 + 3 * static_cast<C>(kCubic) * x * x);
  }
};

template <class Phi>
struct Gelu {
  template <class C>
  C operator()(C x) const {
    if (std::isinf(x)) return x > 0 ? x : C(-0.0);
    return x * Phi::Distribution(x);
  }
};

template <class Phi>
struct GeluGrad {
  template <class C>
  C operator()(C x, C dy) const {
    if (std::isinf(x)) return x > 0 ? dy : C(0);
    return dy * (Phi::Distribution(x) + Phi::SlopeTimesX(x));
  }
};

bool IsExact(const KernelRequest& request) {
  return request.node.attributes.As<GeluAttributes>().approximate == "none";
}

PreparedKernel Prepare(const KernelRequest& request) {
  return IsExact(request) ? Unary<Gelu<Exact>>::Prepare(request)
                          : Unary<Gelu<ByTanh>>::Prepare(request);
}

PreparedKernel PrepareGrad(const KernelRequest& request) {
  return IsExact(request) ? Binary<GeluGrad<Exact>>::Prepare(request)
                          : Binary<GeluGrad<ByTanh>>::Prepare(request);
}

}  // namespace

KernelDef gelu() { return {.name = "reference.gelu", .supports = AllFloat, .prepare = Prepare}; }
KernelDef gelu_grad() {
  return {.name = "reference.gelu_grad", .supports = AllFloat, .prepare = PrepareGrad};
}

}  // namespace cgrun::reference
