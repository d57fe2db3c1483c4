// Computes mod.
#include "src/ops/mod.h"

#include "src/kernels/reference/broadcasting.h"
#include "src/kernels/reference/integers.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct TruncatedRemainder {
  template <class C>
  C operator()(C a, C b) const {
    return std::fmod(a, b);
  }
};

// Has the sign of b, where it is 0, too.
struct FlooredRemainder {
  template <class C>
  C operator()(C a, C b) const {
    const C rest = std::fmod(a, b);
    if (rest == 0) return std::copysign(C(0), b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
  }
};

using Truncated = Broadcasting<Numeric<TruncatedRemainder, integers::Remainder>>;
using Floored = Broadcasting<Numeric<FlooredRemainder, integers::Modulus>>;

PreparedKernel PrepareMod(const KernelRequest& request) {
  const bool truncate = request.node.attributes.As<ModAttributes>().truncate;
  return truncate ? Truncated::Prepare(request) : Floored::Prepare(request);
}

}  // namespace

KernelDef mod() { return {.name = "reference.mod", .supports = AllNumbers, .prepare = PrepareMod}; }

}  // namespace cgrun::reference
