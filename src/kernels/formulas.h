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

  // Whether the gradient of a result `y` passes.
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

// Losses of one prediction and its target, and their slopes by the prediction. Target is the type
// of targets. All are computed in f64; they are templates to be constexpr.

struct SquaredError {
  template <class Target>
  static constexpr double Loss(double prediction, double target) {
    const double difference = prediction - target;
    return difference * difference;
  }
  template <class Target>
  static constexpr double Slope(double prediction, double target) {
    return 2 * (prediction - target);
  }
};

struct AbsoluteError {
  template <class Target>
  static constexpr double Loss(double prediction, double target) {
    return std::abs(prediction - target);
  }
  template <class Target>
  static constexpr double Slope(double prediction, double target) {
    const double difference = prediction - target;
    if (std::isnan(difference)) return difference;
    return (difference > 0) - (difference < 0);
  }
};

struct Hinge {
  // 1 or −1; a NaN stays one.
  static constexpr double Side(double target) {
    if (target != target) return target;
    return target > 0 ? 1 : -1;
  }
  template <class Target>
  static constexpr double Loss(double score, double target) {
    const double missing = 1 - Side(target) * score;
    return missing <= 0 ? 0 : missing;
  }
  template <class Target>
  static constexpr double Slope(double score, double target) {
    const double side = Side(target), product = side * score;
    if (std::isnan(product)) return product;
    return product < 1 ? -side : 0;
  }
};

struct Huber {
  double delta = 1;

  // A NaN is not more than delta.
  template <class Target>
  constexpr double Loss(double prediction, double target) const {
    const double difference = prediction - target, size = std::abs(difference);
    return size > delta ? delta * (size - delta / 2) : difference * difference / 2;
  }
  template <class Target>
  constexpr double Slope(double prediction, double target) const {
    const double difference = prediction - target;
    if (std::isnan(difference)) return difference;
    return difference < -delta ? -delta : difference > delta ? delta : difference;
  }
};

// An integer names no probability, unless it is 0 or 1.
template <class Target>
constexpr double CheckedTarget(double target) {
  const bool known = kernels::kIsFloat<Target> || target == 0 || target == 1;
  return known ? target : std::numeric_limits<double>::quiet_NaN();
}

// Binary cross-entropy that reads logits.
struct OfLogits {
  // −t·ln p − (1 − t)·ln(1 − p). A factor of 0 takes part in no product: 0·∞ would be NaN.
  template <class Target>
  static constexpr double Loss(double x, double target) {
    const double t = CheckedTarget<Target>(target);
    const double small = std::log1p(std::exp(-std::abs(x)));
    const double yes = small + (x > 0 ? 0 : -x), no = small + (x > 0 ? x : 0);
    return (t == 0 ? 0 : t * yes) + (t == 1 ? 0 : (1 - t) * no);
  }

  // The exponential is never of a positive number, so that nothing overflows.
  template <class Target>
  static constexpr double Slope(double x, double target) {
    const double small = std::exp(-std::abs(x));
    const double p = (x < 0 ? small : 1) / (1 + small);
    return p - CheckedTarget<Target>(target);
  }

  template <class Target>
  static constexpr double TargetSlope(double x) {
    return -x;
  }
};

// Binary cross-entropy that reads probabilities.
struct OfProbabilities {
  static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  static constexpr double kLeastLog = -100, kLeastVariance = 1e-12;

  // NaN where p is no probability.
  template <class Target>
  static constexpr double LogYes(double p) {
    return p > 1 ? kNaN : AtLeast(std::log(p));
  }
  template <class Target>
  static constexpr double LogNo(double p) {
    return p < 0 ? kNaN : AtLeast(std::log1p(-p));
  }
  static constexpr double AtLeast(double log) { return log < kLeastLog ? kLeastLog : log; }

  template <class Target>
  static constexpr double Loss(double p, double target) {
    const double t = CheckedTarget<Target>(target);
    return -t * LogYes<Target>(p) - (1 - t) * LogNo<Target>(p);
  }

  template <class Target>
  static constexpr double Slope(double p, double target) {
    if (!(p >= 0 && p <= 1)) return kNaN;
    const double variance = p * (1 - p);
    return (p - CheckedTarget<Target>(target)) /
           (variance < kLeastVariance ? kLeastVariance : variance);
  }

  template <class Target>
  static constexpr double TargetSlope(double p) {
    return LogNo<Target>(p) - LogYes<Target>(p);
  }
};

// The gradient of the target, by the name under which kernels ask for one.
template <class From>
struct OfTarget {
  template <class Target>
  static constexpr double Slope(double x, double) {
    return From::template TargetSlope<Target>(x);
  }
};

// Whether fewer than `top_k` classes come before `label`. Class c has the logit logits[c·stride]; a
// class comes before another one of the same logit if its number is smaller, and NaN before all.
template <class T>
constexpr bool IsAmongFirst(const T* logits, int64_t stride, int64_t classes, int64_t label,
                            int64_t top_k) {
  if (label < 0 || label >= classes) return false;
  const double own = kernels::LoadF64(logits[label * stride]);
  if (std::isnan(own)) return false;
  int64_t before = 0;
  for (int64_t c = 0; c < classes; ++c) {
    const double other = kernels::LoadF64(logits[c * stride]);
    before += other > own || std::isnan(other) || (other == own && c < label);
  }
  return before < top_k;
}

// One row or column of a resized grid lies between two of the original.
struct ResizeTap {
  int64_t low = 0;
  int64_t high = 0;
  double weight = 0;  // of `high`
};

// ((2i + 1)·from − to) / 2to is the position of pixel i, in whole numbers.
constexpr ResizeTap BilinearTap(int64_t i, int64_t from, int64_t to) {
  const int64_t exact = (2 * i + 1) * from - to, last = 2 * to * (from - 1);
  const int64_t position = exact < 0 ? 0 : exact > last ? last : exact;
  const int64_t low = position / (2 * to), rest = position % (2 * to);
  return {low, rest > 0 ? low + 1 : low, static_cast<double>(rest) / static_cast<double>(2 * to)};
}

// Takes the first of two pixels that are equally near.
constexpr ResizeTap NearestTap(int64_t i, int64_t from, int64_t to) {
  const ResizeTap tap = BilinearTap(i, from, to);
  const int64_t nearest = tap.weight > 0.5 ? tap.high : tap.low;
  return {nearest, nearest, 0};
}

// Interpolates between two pixels. Equal ends give the very same value.
template <class T>
constexpr double Between(T low, T high, double weight) {
  return kernels::LoadF64(low) + (kernels::LoadF64(high) - kernels::LoadF64(low)) * weight;
}

template <class T>
constexpr T RoundPixel(double value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(value + 0.5);
  } else {
    return kernels::StoreF64<T>(value);
  }
}

}  // namespace cgrun::formulas

#endif  // CGRUN_KERNELS_FORMULAS_H_
