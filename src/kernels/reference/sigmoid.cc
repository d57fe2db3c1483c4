// sigmoid, tanh and their gradients.
#include <cmath>

#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

// The exponent is never positive, so that nothing overflows.
struct Sigmoid {
  template <class C>
  C operator()(C x) const {
    const C e = std::exp(x < C(0) ? x : -x);
    return (x < C(0) ? e : C(1)) / (C(1) + e);
  }
};

struct SigmoidGrad {
  template <class C>
  C operator()(C y, C dy) const {
    return dy * y * (C(1) - y);
  }
};

struct Tanh {
  template <class C>
  C operator()(C x) const {
    return std::tanh(x);
  }
};

struct TanhGrad {
  template <class C>
  C operator()(C y, C dy) const {
    return dy * (C(1) - y * y);
  }
};

}  // namespace

KernelDef sigmoid() { return Unary<Sigmoid>::Define("reference.sigmoid"); }
KernelDef sigmoid_grad() { return Binary<SigmoidGrad>::Define("reference.sigmoid_grad"); }
KernelDef tanh() { return Unary<Tanh>::Define("reference.tanh"); }
KernelDef tanh_grad() { return Binary<TanhGrad>::Define("reference.tanh_grad"); }

}  // namespace cgrun::reference
