// What the optimizers' kernels share.
#ifndef CGRUN_KERNELS_REFERENCE_OPTIMIZERS_H_
#define CGRUN_KERNELS_REFERENCE_OPTIMIZERS_H_

namespace cgrun::reference {

// The gradient with what regularisation adds to it.
struct Regularization {
  double l1 = 0;
  double l2 = 0;

  double Add(double gradient, double w) const {
    if (l1 == 0 && l2 == 0) return gradient;  // of its sign, too, where it is 0
    const double sign = (w > 0) - (w < 0);
    return gradient + l2 * w + l1 * sign;
  }
};

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_OPTIMIZERS_H_
