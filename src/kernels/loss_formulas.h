// These formulas give what losses and metrics say of one prediction and its target, and the slope
// of a loss by the prediction, on the reference device and on CUDA. Target is the type of targets.
// All are computed in f64; they are templates to be constexpr.
#ifndef CGRUN_KERNELS_LOSS_FORMULAS_H_
#define CGRUN_KERNELS_LOSS_FORMULAS_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "src/kernels/number.h"

namespace cgrun::formulas {

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

// Returns whether fewer than `top_k` classes come before `label`. Class c has the logit
// logits[c·stride]; a class comes before another one of the same logit if its number is smaller,
// and NaN before all.
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

}  // namespace cgrun::formulas

#endif  // CGRUN_KERNELS_LOSS_FORMULAS_H_
