// min, max and their gradient.
#include <cmath>

#include "src/kernels/reference/broadcasting.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

// IEEE 754-2019's minimum and maximum: the sum of two operands is NaN where one of them is, and
// zeros are ordered by their signs.
struct Min {
  template <class C>
  C operator()(C a, C b) const {
    if (std::isnan(a) || std::isnan(b)) return a + b;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
};

struct Max {
  template <class C>
  C operator()(C a, C b) const {
    if (std::isnan(a) || std::isnan(b)) return a + b;
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
  }
};

struct MaxGrad {
  template <class C>
  C operator()(C larger, C smaller, C dy) const {
    return larger < smaller ? C(0) : larger == smaller ? dy / 2 : dy;
  }
};

}  // namespace

KernelDef min() { return Broadcasting<Min>::Define("reference.min"); }
KernelDef max() { return Broadcasting<Max>::Define("reference.max"); }
KernelDef max_grad() { return Broadcasting<MaxGrad, 3>::Define("reference.max_grad"); }

}  // namespace cgrun::reference
