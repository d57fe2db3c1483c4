// hinge and its gradient, in f64.
#include <cmath>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/losses.h"

namespace cgrun::reference {
namespace {

struct Hinge {
  // 1 or −1; a NaN stays one.
  static double Side(double target) {
    if (std::isnan(target)) return target;
    return target > 0 ? 1 : -1;
  }

  template <class Target>
  static double Loss(double score, double target) {
    const double missing = 1 - Side(target) * score;
    return missing <= 0 ? 0 : missing;
  }

  template <class Target>
  static double Slope(double score, double target) {
    const double side = Side(target), product = side * score;
    if (std::isnan(product)) return product;
    return product < 1 ? -side : 0;
  }
};

}  // namespace

KernelDef hinge() { return MeanLoss<Hinge>::DefineLoss("reference.hinge"); }
KernelDef hinge_grad() { return MeanLoss<Hinge>::DefineGrad("reference.hinge_grad"); }

}  // namespace cgrun::reference
