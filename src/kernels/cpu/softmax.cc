// Computes softmax and its gradient, f32.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/softmax.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/over_groups.h"
#include "src/kernels/cpu/softmax_row.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kLanes = static_cast<int64_t>(kF32Lanes);

// A group is read to its end before it is written, so that in place is safe.
struct Softmax {
  static constexpr int kInputs = 1;

  static HWY_INLINE void Row(const float* const* in, float* y, int64_t count) {
    const double sum = StoreExponentials(in[0], count, LargestOf(in[0], count), y);
    MultiplyRow(y, count, static_cast<float>(1 / sum));
  }

  template <class LoadSome, class StoreSome>
  static HWY_INLINE void Columns(int64_t count, LoadSome load, StoreSome store) {
    const F32 d;
    const VF32 max = LargestOfColumns(count, load);
    const Sum sum = SumOfColumnExponentials(count, load, max);
    const VF64 one = hn::Set(F64(), 1);
    const VF32 factor = RoundedToF32(hn::Div(one, sum.low), hn::Div(one, sum.high));
    for (int64_t c = 0; c < count; ++c) {
      store(c, hn::Mul(ExponentialOfNegative(d, hn::Sub(load(0, c), max)), factor));
    }
  }
};

struct SoftmaxGrad {
  static constexpr int kInputs = 2;

  static HWY_INLINE VF32 Of(VF32 y, VF32 dy, VF32 sum) { return hn::Mul(y, hn::Sub(dy, sum)); }

  static HWY_INLINE void Row(const float* const* in, float* dx, int64_t count) {
    const F32 d;
    const float *y = in[0], *dy = in[1];
    Sum total;
    int64_t e = 0;
    for (; e + kLanes <= count; e += kLanes) {
      total.AddProduct(hn::LoadU(d, y + e), hn::LoadU(d, dy + e));
    }
    const int64_t rest = count - e;
    if (rest > 0) total.AddProduct(LoadFirst(d, y + e, rest), LoadFirst(d, dy + e, rest));
    const VF32 sum = hn::Set(d, static_cast<float>(total.Total()));
    for (e = 0; e + kLanes <= count; e += kLanes) {
      hn::StoreU(Of(hn::LoadU(d, y + e), hn::LoadU(d, dy + e), sum), d, dx + e);
    }
    if (rest == 0) return;
    const VF32 last = Of(LoadFirst(d, y + e, rest), LoadFirst(d, dy + e, rest), sum);
    StoreFirst(d, last, dx + e, rest);
  }

  template <class LoadSome, class StoreSome>
  static HWY_INLINE void Columns(int64_t count, LoadSome load, StoreSome store) {
    Sum total;
    for (int64_t c = 0; c < count; ++c) total.AddProduct(load(0, c), load(1, c));
    const VF32 sum = total.RoundedLanes();
    for (int64_t c = 0; c < count; ++c) store(c, Of(load(0, c), load(1, c), sum));
  }
};

KernelDef softmax() { return OverGroups<Softmax>::Define("cpu.softmax"); }
KernelDef softmax_grad() { return OverGroups<SoftmaxGrad>::Define("cpu.softmax_grad"); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(softmax)
CGRUN_CPU_KERNEL(softmax_grad)

}  // namespace cgrun::cpu
#endif
