// pow and the gradients of its operands.
#include <cmath>

#include "src/kernels/reference/broadcasting.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct Pow {
  template <class C>
  C operator()(C a, C b) const {
    return std::pow(a, b);
  }
};

struct PowBaseGrad {
  template <class C>
  C operator()(C a, C b, C dy) const {
    return b == 0 ? C(0) : dy * (b * std::pow(a, b - 1));
  }
};

struct PowExponentGrad {
  template <class C>
  C operator()(C a, C y, C dy) const {
    const bool flat = a == 0 && std::abs(y) <= 1;
    return flat ? C(0) : dy * (y * std::log(a));
  }
};

}  // namespace

KernelDef pow() { return Broadcasting<Pow>::Define("reference.pow"); }
KernelDef pow_base_grad() {
  return Broadcasting<PowBaseGrad, 3>::Define("reference.pow_base_grad");
}
KernelDef pow_exponent_grad() {
  return Broadcasting<PowExponentGrad, 3>::Define("reference.pow_exponent_grad");
}

}  // namespace cgrun::reference
