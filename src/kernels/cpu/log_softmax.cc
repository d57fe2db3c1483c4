// Computes log_softmax and its gradient, f32.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/log_softmax.cc"
#include <hwy/foreach_target.h>
//
#include <cmath>

#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/map.h"
#include "src/kernels/cpu/over_groups.h"
#include "src/kernels/cpu/softmax_row.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct LogSoftmax {
  static constexpr int kInputs = 1;

  static HWY_INLINE void Row(const float* const* in, float* y, int64_t count) {
    const float max = LargestOf(in[0], count);
    const auto log_sum = static_cast<float>(std::log(SumOfExponentials(in[0], count, max)));
    Sweep(F32(), std::array{in[0]}, std::array{y}, 0, count,
          [max, log_sum](auto d, const auto& x, auto& out) {
            out[0] = hn::Sub(hn::Sub(x[0], hn::Set(d, max)), hn::Set(d, log_sum));
          });
  }

  template <class LoadSome, class StoreSome>
  static HWY_INLINE void Columns(int64_t count, LoadSome load, StoreSome store) {
    const VF32 max = LargestOfColumns(count, load);
    const Sum sum = SumOfColumnExponentials(count, load, max);
    const VF32 log_sum = RoundedToF32(Logarithm(F64(), sum.low), Logarithm(F64(), sum.high));
    for (int64_t c = 0; c < count; ++c) store(c, hn::Sub(hn::Sub(load(0, c), max), log_sum));
  }
};

struct LogSoftmaxGrad {
  static constexpr int kInputs = 2;

  static HWY_INLINE VF32 Of(VF32 y, VF32 dy, VF32 sum) {
    return hn::NegMulAdd(Exponential(F32(), y), sum, dy);
  }

  static HWY_INLINE void Row(const float* const* in, float* dx, int64_t count) {
    States<Sum, 4> sums;
    AddRow(in[1], count, sums);
    const auto sum = static_cast<float>(TotalOf(sums));
    Sweep(F32(), std::array{in[0], in[1]}, std::array{dx}, 0, count,
          [sum](auto d, const auto& x, auto& out) { out[0] = Of(x[0], x[1], hn::Set(d, sum)); });
  }

  template <class LoadSome, class StoreSome>
  static HWY_INLINE void Columns(int64_t count, LoadSome load, StoreSome store) {
    Sum total;
    for (int64_t c = 0; c < count; ++c) total.Add(load(1, c));
    const VF32 sum = total.RoundedLanes();
    for (int64_t c = 0; c < count; ++c) store(c, Of(load(0, c), load(1, c), sum));
  }
};

KernelDef log_softmax() { return OverGroups<LogSoftmax>::Define("cpu.log_softmax"); }
KernelDef log_softmax_grad() { return OverGroups<LogSoftmaxGrad>::Define("cpu.log_softmax_grad"); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(log_softmax)
CGRUN_CPU_KERNEL(log_softmax_grad)

}  // namespace cgrun::cpu
#endif
