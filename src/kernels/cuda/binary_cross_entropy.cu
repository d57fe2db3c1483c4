// binary_cross_entropy and its gradient, in f64.
#include <cmath>
#include <limits>

#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/mean_loss.cuh"
#include "src/ops/loss.h"

namespace cgrun::cuda {

inline __device__ double QuietNaN() { return std::numeric_limits<double>::quiet_NaN(); }

// An integer names no probability, unless it is 0 or 1.
template <class Target>
__device__ double CheckedTarget(double target) {
  const bool known = kIsFloat<Target> || target == 0 || target == 1;
  return known ? target : QuietNaN();
}

struct BceOfLogits {
  // −t·ln p − (1 − t)·ln(1 − p). A factor of 0 takes part in no product: 0·∞ would be NaN.
  template <class Target>
  __device__ double Loss(double x, double target) const {
    const double t = CheckedTarget<Target>(target);
    const double small = std::log1p(std::exp(-std::abs(x)));
    const double yes = small + (x > 0 ? 0 : -x), no = small + (x > 0 ? x : 0);
    return (t == 0 ? 0 : t * yes) + (t == 1 ? 0 : (1 - t) * no);
  }

  // The exponential is never of a positive number, so that nothing overflows.
  template <class Target>
  __device__ double Slope(double x, double target) const {
    const double small = std::exp(-std::abs(x));
    const double p = (x < 0 ? small : 1) / (1 + small);
    return p - CheckedTarget<Target>(target);
  }

  static __device__ double TargetSlope(double x) { return -x; }
};

struct BceOfProbabilities {
  // NaN where p is no probability.
  static __device__ double LogYes(double p) { return p > 1 ? QuietNaN() : AtLeast(std::log(p)); }
  static __device__ double LogNo(double p) { return p < 0 ? QuietNaN() : AtLeast(std::log1p(-p)); }
  static __device__ double AtLeast(double log) { return log < -100 ? -100 : log; }

  template <class Target>
  __device__ double Loss(double p, double target) const {
    const double t = CheckedTarget<Target>(target);
    return -t * LogYes(p) - (1 - t) * LogNo(p);
  }

  template <class Target>
  __device__ double Slope(double p, double target) const {
    if (!(p >= 0 && p <= 1)) return QuietNaN();
    const double variance = p * (1 - p);
    return (p - CheckedTarget<Target>(target)) / (variance < 1e-12 ? 1e-12 : variance);
  }

  static __device__ double TargetSlope(double p) { return LogNo(p) - LogYes(p); }
};

// The gradient of the target, by the name under which MeanLoss asks for one.
template <class From>
struct BceOfTarget {
  template <class Target>
  __device__ double Slope(double x, double) const {
    return From::TargetSlope(x);
  }
};

static PreparedKernel PrepareBce(const KernelRequest& request) {
  return request.node.attributes.As<BinaryCrossEntropyAttributes>().from_logits
             ? MeanLoss<BceOfLogits>::PrepareLoss(request)
             : MeanLoss<BceOfProbabilities>::PrepareLoss(request);
}

static PreparedKernel PrepareBceGrad(const KernelRequest& request) {
  const auto& a = request.node.attributes.As<BinaryCrossEntropyGradAttributes>();
  if (a.of_target) {
    return a.from_logits ? MeanLoss<BceOfTarget<BceOfLogits>>::PrepareGrad(request)
                         : MeanLoss<BceOfTarget<BceOfProbabilities>>::PrepareGrad(request);
  }
  return a.from_logits ? MeanLoss<BceOfLogits>::PrepareGrad(request)
                       : MeanLoss<BceOfProbabilities>::PrepareGrad(request);
}

KernelDef binary_cross_entropy() {
  return {
      .name = "cuda.binary_cross_entropy", .supports = FirstInputIsFloat, .prepare = PrepareBce};
}
KernelDef binary_cross_entropy_grad() {
  return {.name = "cuda.binary_cross_entropy_grad",
          .supports = FirstInputIsFloat,
          .prepare = PrepareBceGrad};
}

}  // namespace cgrun::cuda
