// relu and its gradient.
#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct ReluFormula {
  template <class C>
  C operator()(C x) const {
    return x < C(0) ? C(0) : x;  // a NaN is not less than 0
  }
};

struct ReluGradFormula {
  template <class C>
  C operator()(C y, C dy) const {
    return y > C(0) ? dy : C(0);
  }
};

}  // namespace

KernelDef relu() { return Unary<ReluFormula>::Define("reference.relu"); }
KernelDef relu_grad() { return Binary<ReluGradFormula>::Define("reference.relu_grad"); }

}  // namespace cgrun::reference
