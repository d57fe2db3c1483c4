// These formulas give one element of an operator's result, on the reference device and on CUDA. `C`
// is the type that a kernel computes in. `constexpr` functions run on the GPU, too
// (nvcc's --expt-relaxed-constexpr).
#ifndef CGRUN_KERNELS_FORMULAS_H_
#define CGRUN_KERNELS_FORMULAS_H_

#include <cmath>
#include <limits>
#include <numbers>

#include "src/kernels/number.h"

namespace cgrun::formulas {

struct Neg {
  template <class C>
  constexpr C operator()(C x) const {
    return -x;
  }
};

struct Exp {
  template <class C>
  constexpr C operator()(C x) const {
    return std::exp(x);
  }
};

struct Log {
  template <class C>
  constexpr C operator()(C x) const {
    return std::log(x);
  }
};

struct Sqrt {
  template <class C>
  constexpr C operator()(C x) const {
    return std::sqrt(x);
  }
};

struct Abs {
  template <class C>
  constexpr C operator()(C x) const {
    return std::abs(x);
  }
};

struct AbsGrad {
  template <class C>
  constexpr C operator()(C x, C dy) const {
    return x > 0 ? dy : x < 0 ? -dy : C(0);
  }
};

struct Add {
  template <class C>
  constexpr C operator()(C a, C b) const {
    return a + b;
  }
};

struct Sub {
  template <class C>
  constexpr C operator()(C a, C b) const {
    return a - b;
  }
};

struct Mul {
  template <class C>
  constexpr C operator()(C a, C b) const {
    return a * b;
  }
};

struct Div {
  template <class C>
  constexpr C operator()(C a, C b) const {
    return a / b;
  }
};

// IEEE 754-2019's minimum and maximum: the sum of two operands is NaN where one of them is, and
// zeros are ordered by their signs.
struct Min {
  template <class C>
  constexpr C operator()(C a, C b) const {
    if (std::isnan(a) || std::isnan(b)) return a + b;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
};

struct Max {
  template <class C>
  constexpr C operator()(C a, C b) const {
    if (std::isnan(a) || std::isnan(b)) return a + b;
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
  }
};

struct MaxGrad {
  template <class C>
  constexpr C operator()(C larger, C smaller, C dy) const {
    return larger < smaller ? C(0) : larger == smaller ? dy / 2 : dy;
  }
};

struct Pow {
  template <class C>
  constexpr C operator()(C a, C b) const {
    return std::pow(a, b);
  }
};

struct PowBaseGrad {
  template <class C>
  constexpr C operator()(C a, C b, C dy) const {
    return b == 0 ? C(0) : dy * (b * std::pow(a, b - 1));
  }
};

struct PowExponentGrad {
  template <class C>
  constexpr C operator()(C a, C y, C dy) const {
    const bool flat = a == 0 && std::abs(y) <= 1;
    return flat ? C(0) : dy * (y * std::log(a));
  }
};

struct Relu {
  template <class C>
  constexpr C operator()(C x) const {
    return x < C(0) ? C(0) : x;  // a NaN is not less than 0
  }
};

struct ReluGrad {
  template <class C>
  constexpr C operator()(C y, C dy) const {
    return y > C(0) ? dy : C(0);
  }
};

template <class C>
struct LeakyRelu {
  C slope;
  constexpr C operator()(C x) const { return x < 0 ? slope * x : x; }
};

template <class C>
struct LeakyReluGrad {
  C slope;
  constexpr C operator()(C y, C dy) const { return y > 0 ? dy : slope * dy; }
};

// The bounds are those that elements of type T can have: what is clipped equals its bound.
template <class T>
struct ClipRange {
  using C = kernels::Compute<T>;
  C min, max;

  constexpr ClipRange(double lower, double upper)
      : min(kernels::Load(kernels::StoreF64<T>(lower))),
        max(kernels::Load(kernels::StoreF64<T>(upper))) {}

  constexpr C Clip(C x) const { return x < min ? min : x > max ? max : x; }

  // Returns whether the gradient of a result `y` passes.
  constexpr bool Passes(C y) const {
    constexpr C kInfinity = std::numeric_limits<C>::infinity();
    return (y > min || y == -kInfinity) && (y < max || y == kInfinity);
  }
};

// The exponent is never positive, so that nothing overflows.
struct Sigmoid {
  template <class C>
  constexpr C operator()(C x) const {
    const C e = std::exp(x < C(0) ? x : -x);
    return (x < C(0) ? e : C(1)) / (C(1) + e);
  }
};

struct SigmoidGrad {
  template <class C>
  constexpr C operator()(C y, C dy) const {
    return dy * y * (C(1) - y);
  }
};

struct Tanh {
  template <class C>
  constexpr C operator()(C x) const {
    return std::tanh(x);
  }
};

struct TanhGrad {
  template <class C>
  constexpr C operator()(C y, C dy) const {
    return dy * (C(1) - y * y);
  }
};

// The exponent is never positive, so that nothing overflows.
struct Softplus {
  template <class C>
  constexpr C operator()(C x) const {
    return std::log1p(std::exp(-std::abs(x))) + (x > C(0) ? x : C(0));
  }
};

struct SoftplusGrad {
  template <class C>
  constexpr C operator()(C y, C dy) const {
    return dy * -std::expm1(-y);
  }
};

// Gives Φ(x) and x·Φ'(x) of a finite x, or of NaN.
struct ExactGelu {
  template <class C>
  static constexpr C Distribution(C x) {
    return std::erfc(-x / std::numbers::sqrt2_v<C>) / 2;
  }
  template <class C>
  static constexpr C SlopeTimesX(C x) {
    constexpr C kFactor = std::numbers::inv_sqrtpi_v<C> / std::numbers::sqrt2_v<C>;
    const C density = std::exp(-x * x / 2) * kFactor;
    return density > 0 ? x * density : density;  // x² may be infinite
  }
};

// (1 + tanh u)/2 is the logistic function of 2u.
struct GeluByTanh {
  static constexpr double kCubic = 0.044715;
  template <class C>
  static constexpr C Twice() {
    return 2 * std::numbers::sqrt2_v<C> * std::numbers::inv_sqrtpi_v<C>;
  }
  template <class C>
  static constexpr C TwoU(C x) {
    return Twice<C>() * (x + static_cast<C>(kCubic) * x * x * x);
  }
  template <class C>
  static constexpr C Distribution(C x) {
    return 1 / (1 + std::exp(-TwoU(x)));
  }
  template <class C>
  static constexpr C SlopeTimesX(C x) {
    const C slope = Distribution(x) / (1 + std::exp(TwoU(x)));  // of the logistic function
    if (slope == 0) return 0;
    return x * slope * Twice<C>() * (1 + 3 * static_cast<C>(kCubic) * x * x);
  }
};

template <class Phi>
struct Gelu {
  template <class C>
  constexpr C operator()(C x) const {
    if (std::isinf(x)) return x > 0 ? x : C(-0.0);
    return x * Phi::Distribution(x);
  }
};

template <class Phi>
struct GeluGrad {
  template <class C>
  constexpr C operator()(C x, C dy) const {
    if (std::isinf(x)) return x > 0 ? dy : C(0);
    return dy * (Phi::Distribution(x) + Phi::SlopeTimesX(x));
  }
};

// Infinities give their limits.
struct Silu {
  template <class C>
  constexpr C operator()(C x) const {
    if (std::isinf(x)) return x > 0 ? x : C(-0.0);
    return x * Sigmoid()(x);
  }
};

struct SiluGrad {
  template <class C>
  constexpr C operator()(C x, C dy) const {
    if (std::isinf(x)) return x > 0 ? dy : C(0);
    const C gate = Sigmoid()(x), rest = Sigmoid()(-x);
    return dy * (gate + x * gate * rest);
  }
};

struct HardSwish {
  template <class C>
  constexpr C operator()(C x) const {
    if (x <= C(-3)) return C(-0.0);
    return x >= C(3) ? x : x * (x + C(3)) / C(6);
  }
};

struct HardSwishGrad {
  template <class C>
  constexpr C operator()(C x, C dy) const {
    if (x <= C(-3)) return C(0);
    return x >= C(3) ? dy : dy * ((x + x + C(3)) / C(6));
  }
};

}  // namespace cgrun::formulas

#endif  // CGRUN_KERNELS_FORMULAS_H_
