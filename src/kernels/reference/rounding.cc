// Computes sign, ceil, floor and round.
#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/integers.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct SignOfReal {
  template <class C>
  constexpr C operator()(C x) const {
    return x > 0 ? C(1) : x < 0 ? C(-1) : x == 0 ? C(0) : x;
  }
};

struct Ceil {
  template <class C>
  constexpr C operator()(C x) const {
    return std::ceil(x);
  }
};

struct Floor {
  template <class C>
  constexpr C operator()(C x) const {
    return std::floor(x);
  }
};

// No program changes the rounding mode, which is to nearest, ties to even.
struct Round {
  template <class C>
  constexpr C operator()(C x) const {
    return std::nearbyint(x);
  }
};

}  // namespace

KernelDef sign() { return Unary<Numeric<SignOfReal, integers::Sign>>::Define("reference.sign"); }
KernelDef ceil() { return Unary<Ceil>::Define("reference.ceil"); }
KernelDef floor() { return Unary<Floor>::Define("reference.floor"); }
KernelDef round() { return Unary<Round>::Define("reference.round"); }

}  // namespace cgrun::reference
