// softplus and its gradient.
#include <cmath>

#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

// The exponent is never positive, so that nothing overflows.
struct Softplus {
  template <class C>
  C operator()(C x) const {
    return std::log1p(std::exp(-std::abs(x))) + (x > C(0) ? x : C(0));
  }
};

struct SoftplusGrad {
  template <class C>
  C operator()(C y, C dy) const {
    return dy * -std::expm1(-y);
  }
};

}  // namespace

KernelDef softplus() { return Unary<Softplus>::Define("reference.softplus"); }
KernelDef softplus_grad() { return Binary<SoftplusGrad>::Define("reference.softplus_grad"); }

}  // namespace cgrun::reference
