// binary_cross_entropy and its gradient, in f64.
#include <cmath>
#include <limits>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/losses.h"

namespace cgrun::reference {
namespace {

template <class Target>
struct BinaryCrossEntropy {
  // An integer names no probability, unless it is 0 or 1.
  static double Checked(double target) {
    const bool known = kIsFloat<Target> || target == 0 || target == 1;
    return known ? target : std::numeric_limits<double>::quiet_NaN();
  }

  // −t·ln p − (1 − t)·ln(1 − p). A factor of 0 takes part in no product: 0·∞ would be NaN.
  static double Loss(double x, double target) {
    const double t = Checked(target);
    const double small = std::log1p(std::exp(-std::abs(x)));
    const double yes = small + (x > 0 ? 0 : -x), no = small + (x > 0 ? x : 0);
    return (t == 0 ? 0 : t * yes) + (t == 1 ? 0 : (1 - t) * no);
  }

  // The exponential is never of a positive number, so that nothing overflows.
  static double Slope(double x, double target) {
    const double small = std::exp(-std::abs(x));
    const double p = (x < 0 ? small : 1) / (1 + small);
    return p - Checked(target);
  }
};

}  // namespace

KernelDef binary_cross_entropy() {
  return MeanLoss<BinaryCrossEntropy>::DefineLoss("reference.binary_cross_entropy");
}
KernelDef binary_cross_entropy_grad() {
  return MeanLoss<BinaryCrossEntropy>::DefineGrad("reference.binary_cross_entropy_grad");
}

}  // namespace cgrun::reference
