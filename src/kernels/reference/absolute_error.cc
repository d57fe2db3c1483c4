// absolute_error and its gradient, in f64.
#include <cmath>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/losses.h"

namespace cgrun::reference {
namespace {

struct AbsoluteError {
  template <class Target>
  static double Loss(double prediction, double target) {
    return std::abs(prediction - target);
  }

  template <class Target>
  static double Slope(double prediction, double target) {
    const double difference = prediction - target;
    if (std::isnan(difference)) return difference;
    return (difference > 0) - (difference < 0);
  }
};

}  // namespace

KernelDef absolute_error() {
  return MeanLoss<AbsoluteError>::DefineLoss("reference.absolute_error");
}
KernelDef absolute_error_grad() {
  return MeanLoss<AbsoluteError>::DefineGrad("reference.absolute_error_grad");
}

}  // namespace cgrun::reference
