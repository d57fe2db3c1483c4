// binary_cross_entropy and its gradient, in f64.
#include <cmath>
#include <limits>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/losses.h"
#include "src/ops/loss.h"

namespace cgrun::reference {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// An integer names no probability, unless it is 0 or 1.
template <class Target>
double Checked(double target) {
  const bool known = kIsFloat<Target> || target == 0 || target == 1;
  return known ? target : kNaN;
}

struct FromLogits {
  // −t·ln p − (1 − t)·ln(1 − p). A factor of 0 takes part in no product: 0·∞ would be NaN.
  template <class Target>
  static double Loss(double x, double target) {
    const double t = Checked<Target>(target);
    const double small = std::log1p(std::exp(-std::abs(x)));
    const double yes = small + (x > 0 ? 0 : -x), no = small + (x > 0 ? x : 0);
    return (t == 0 ? 0 : t * yes) + (t == 1 ? 0 : (1 - t) * no);
  }

  // The exponential is never of a positive number, so that nothing overflows.
  template <class Target>
  static double Slope(double x, double target) {
    const double small = std::exp(-std::abs(x));
    const double p = (x < 0 ? small : 1) / (1 + small);
    return p - Checked<Target>(target);
  }

  static double TargetSlope(double x) { return -x; }
};

struct FromProbabilities {
  static constexpr double kLeastLog = -100, kLeastVariance = 1e-12;

  // NaN where p is no probability.
  static double LogYes(double p) { return p > 1 ? kNaN : AtLeast(std::log(p)); }
  static double LogNo(double p) { return p < 0 ? kNaN : AtLeast(std::log1p(-p)); }
  static double AtLeast(double log) { return log < kLeastLog ? kLeastLog : log; }

  template <class Target>
  static double Loss(double p, double target) {
    const double t = Checked<Target>(target);
    return -t * LogYes(p) - (1 - t) * LogNo(p);
  }

  template <class Target>
  static double Slope(double p, double target) {
    if (!(p >= 0 && p <= 1)) return kNaN;
    const double variance = p * (1 - p);
    return (p - Checked<Target>(target)) / (variance < kLeastVariance ? kLeastVariance : variance);
  }

  static double TargetSlope(double p) { return LogNo(p) - LogYes(p); }
};

// The gradient of the target, by the name under which MeanLoss asks for one.
template <class From>
struct OfTarget {
  template <class Target>
  static double Slope(double x, double) {
    return From::TargetSlope(x);
  }
};

PreparedKernel Prepare(const KernelRequest& request) {
  return request.node.attributes.As<BinaryCrossEntropyAttributes>().from_logits
             ? MeanLoss<FromLogits>::PrepareLoss(request)
             : MeanLoss<FromProbabilities>::PrepareLoss(request);
}

PreparedKernel PrepareGrad(const KernelRequest& request) {
  const auto& a = request.node.attributes.As<BinaryCrossEntropyGradAttributes>();
  if (a.of_target) {
    return a.from_logits ? MeanLoss<OfTarget<FromLogits>>::PrepareGrad(request)
                         : MeanLoss<OfTarget<FromProbabilities>>::PrepareGrad(request);
  }
  return a.from_logits ? MeanLoss<FromLogits>::PrepareGrad(request)
                       : MeanLoss<FromProbabilities>::PrepareGrad(request);
}

}  // namespace

KernelDef binary_cross_entropy() {
  return {
      .name = "reference.binary_cross_entropy", .supports = FirstInputIsFloat, .prepare = Prepare};
}
KernelDef binary_cross_entropy_grad() {
  return {.name = "reference.binary_cross_entropy_grad",
          .supports = FirstInputIsFloat,
          .prepare = PrepareGrad};
}

}  // namespace cgrun::reference
