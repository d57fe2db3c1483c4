// What the optimizers' kernels share.
#ifndef CGRUN_KERNELS_REFERENCE_OPTIMIZERS_H_
#define CGRUN_KERNELS_REFERENCE_OPTIMIZERS_H_

namespace cgrun::reference {

// The gradient with what regularisation adds to it, in the type C that a kernel computes in.
struct Regularization {
  double l1 = 0;
  double l2 = 0;

  template <class C>
  C Add(C gradient, C w) const {
    if (l1 == 0 && l2 == 0) return gradient;  // of its sign, too, where it is 0
    const auto sign = static_cast<C>((w > 0) - (w < 0));
    return gradient + static_cast<C>(l2) * w + static_cast<C>(l1) * sign;
  }
};

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_OPTIMIZERS_H_
