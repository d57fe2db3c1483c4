// add, sub, mul, div: one loop where the shapes are equal, a strided walk where one is broadcast.
#include "src/kernels/reference/broadcasting.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct Add {
  template <class C>
  C operator()(C a, C b) const {
    return a + b;
  }
};

struct Sub {
  template <class C>
  C operator()(C a, C b) const {
    return a - b;
  }
};

struct Mul {
  template <class C>
  C operator()(C a, C b) const {
    return a * b;
  }
};

struct Div {
  template <class C>
  C operator()(C a, C b) const {
    return a / b;
  }
};

}  // namespace

KernelDef add() { return Broadcasting<Add>::Define("reference.add"); }
KernelDef sub() { return Broadcasting<Sub>::Define("reference.sub"); }
KernelDef mul() { return Broadcasting<Mul>::Define("reference.mul"); }
KernelDef div() { return Broadcasting<Div>::Define("reference.div"); }

}  // namespace cgrun::reference
