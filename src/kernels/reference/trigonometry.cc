// Computes the trigonometric and hyperbolic functions and their inverses.
#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

// Calls Function::Of(x).
template <class Function>
struct Calls {
  template <class C>
  constexpr C operator()(C x) const {
    return Function::Of(x);
  }
};

// Each struct names one function of <cmath>.
#define CGRUN_FUNCTION(Name, name) \
  struct Name {                    \
    template <class C>             \
    static C Of(C x) {             \
      return std::name(x);         \
    }                              \
  };
CGRUN_FUNCTION(Sine, sin)
CGRUN_FUNCTION(Cosine, cos)
CGRUN_FUNCTION(Tangent, tan)
CGRUN_FUNCTION(ArcSine, asin)
CGRUN_FUNCTION(ArcCosine, acos)
CGRUN_FUNCTION(ArcTangent, atan)
CGRUN_FUNCTION(HyperbolicSine, sinh)
CGRUN_FUNCTION(HyperbolicCosine, cosh)
CGRUN_FUNCTION(AreaSine, asinh)
CGRUN_FUNCTION(AreaCosine, acosh)
CGRUN_FUNCTION(AreaTangent, atanh)
#undef CGRUN_FUNCTION

template <class Function>
KernelDef Define(std::string_view name) {
  return Unary<Calls<Function>>::Define(name);
}

}  // namespace

KernelDef sin() { return Define<Sine>("reference.sin"); }
KernelDef cos() { return Define<Cosine>("reference.cos"); }
KernelDef tan() { return Define<Tangent>("reference.tan"); }
KernelDef asin() { return Define<ArcSine>("reference.asin"); }
KernelDef acos() { return Define<ArcCosine>("reference.acos"); }
KernelDef atan() { return Define<ArcTangent>("reference.atan"); }
KernelDef sinh() { return Define<HyperbolicSine>("reference.sinh"); }
KernelDef cosh() { return Define<HyperbolicCosine>("reference.cosh"); }
KernelDef asinh() { return Define<AreaSine>("reference.asinh"); }
KernelDef acosh() { return Define<AreaCosine>("reference.acosh"); }
KernelDef atanh() { return Define<AreaTangent>("reference.atanh"); }

}  // namespace cgrun::reference
