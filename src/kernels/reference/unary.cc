// Computes neg, exp, log, sqrt and erf.
#include "src/kernels/formulas.h"
#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/integers.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct Erf {
  template <class C>
  constexpr C operator()(C x) const {
    return std::erf(x);
  }
};

}  // namespace

KernelDef exp() { return Unary<formulas::Exp>::Define("reference.exp"); }
KernelDef log() { return Unary<formulas::Log>::Define("reference.log"); }
KernelDef sqrt() { return Unary<formulas::Sqrt>::Define("reference.sqrt"); }
KernelDef neg() { return Unary<Numeric<formulas::Neg, integers::Neg>>::Define("reference.neg"); }
KernelDef erf() { return Unary<Erf>::Define("reference.erf"); }

}  // namespace cgrun::reference
