// neg, exp, log, sqrt.
#include <cmath>

#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct Neg {
  template <class C>
  C operator()(C x) const {
    return -x;
  }
};

struct Exp {
  template <class C>
  C operator()(C x) const {
    return std::exp(x);
  }
};

struct Log {
  template <class C>
  C operator()(C x) const {
    return std::log(x);
  }
};

struct Sqrt {
  template <class C>
  C operator()(C x) const {
    return std::sqrt(x);
  }
};

}  // namespace

KernelDef exp() { return Unary<Exp>::Define("reference.exp"); }
KernelDef log() { return Unary<Log>::Define("reference.log"); }
KernelDef sqrt() { return Unary<Sqrt>::Define("reference.sqrt"); }
KernelDef neg() { return Unary<Neg>::Define("reference.neg"); }

}  // namespace cgrun::reference
