// Applies an activation to a product that a library has made.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/activate_in_place.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/activated.h"
#include "src/kernels/cpu/linear_product.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

void ActivateVectors(const Activation& activation, float* y, int64_t count) {
  constexpr auto kLanes = static_cast<int64_t>(kF32Lanes);
  const F32 d;
  int64_t e = 0;
  for (; e + kLanes <= count; e += kLanes) {
    hn::StoreU(Activated(activation, hn::LoadU(d, y + e)), d, y + e);
  }
  if (e < count) {
    StoreFirst(d, Activated(activation, LoadFirst(d, y + e, count - e)), y + e, count - e);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

HWY_EXPORT(ActivateVectors);
void ActivateInPlace(const Activation& activation, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(ActivateVectors)(activation, y, count);
}

}  // namespace cgrun::cpu
#endif
