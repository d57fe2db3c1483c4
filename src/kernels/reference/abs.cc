// abs and its gradient.
#include <cmath>

#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct Abs {
  template <class C>
  C operator()(C x) const {
    return std::abs(x);
  }
};

struct AbsGrad {
  template <class C>
  C operator()(C x, C dy) const {
    return x > 0 ? dy : x < 0 ? -dy : C(0);
  }
};

}  // namespace

KernelDef abs() { return Unary<Abs>::Define("reference.abs"); }
KernelDef abs_grad() { return Binary<AbsGrad>::Define("reference.abs_grad"); }

}  // namespace cgrun::reference
