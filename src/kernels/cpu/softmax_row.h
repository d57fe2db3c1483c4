// The parts of softmax that softmax, log_softmax and cross-entropy share. Included once for each
// target.
#if defined(CGRUN_KERNELS_CPU_SOFTMAX_ROW_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_SOFTMAX_ROW_H_
#undef CGRUN_KERNELS_CPU_SOFTMAX_ROW_H_
#else
#define CGRUN_KERNELS_CPU_SOFTMAX_ROW_H_
#endif

#include "src/kernels/cpu/sums.h"
#include "src/kernels/cpu/vector_math.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

// Returns the largest of x[0 … count), count ≥ 1. If there is a NaN, it returns any number: the sum
// of exponentials will be NaN.
HWY_INLINE float LargestOf(const float* x, int64_t count) {
  constexpr auto kLanes = static_cast<int64_t>(kF32Lanes);
  const F32 d;
  const VF32 least = hn::Set(d, Max::kNeutral);
  VF32 a = least, b = least;
  int64_t e = 0;
  for (; e + 2 * kLanes <= count; e += 2 * kLanes) {
    a = hn::Max(a, hn::LoadU(d, x + e));
    b = hn::Max(b, hn::LoadU(d, x + e + kLanes));
  }
  if (e + kLanes <= count) {
    a = hn::Max(a, hn::LoadU(d, x + e));
    e += kLanes;
  }
  if (e < count) b = hn::Max(b, LoadFirstOr(d, x + e, count - e, least));
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
}

// y = e^(x − max); returns the sum. y may be x.
HWY_INLINE double StoreExponentials(const float* x, int64_t count, float max, float* y) {
  constexpr auto kLanes = static_cast<int64_t>(kF32Lanes);
  const F32 d;
  const VF32 largest = hn::Set(d, max);
  Sum a, b;
  int64_t e = 0;
  for (; e + 2 * kLanes <= count; e += 2 * kLanes) {
    const VF32 first = hn::LoadU(d, x + e), second = hn::LoadU(d, x + e + kLanes);
    const VF32 of_first = ExponentialOfNegative(d, hn::Sub(first, largest));
    const VF32 of_second = ExponentialOfNegative(d, hn::Sub(second, largest));
    hn::StoreU(of_first, d, y + e);
    hn::StoreU(of_second, d, y + e + kLanes);
    a.Add(of_first);
    b.Add(of_second);
  }
  for (; e < count; e += kLanes) {
    const int64_t lanes = std::min(kLanes, count - e);
    const VF32 minus_infinity = hn::Set(d, Max::kNeutral);
    const VF32 some =
        lanes == kLanes ? hn::LoadU(d, x + e) : LoadFirstOr(d, x + e, lanes, minus_infinity);
    const VF32 of_some = ExponentialOfNegative(d, hn::Sub(some, largest));
    StoreSome(d, of_some, y + e, lanes);
    a.Add(lanes == kLanes ? of_some
                          : hn::IfThenElse(hn::FirstN(d, static_cast<size_t>(lanes)), of_some,
                                           hn::Set(d, Sum::kNeutral)));
  }
  a.Join(b);
  return a.Total();
}

// Returns Σ e^(x − max).
HWY_INLINE double SumOfExponentials(const float* x, int64_t count, float max) {
  constexpr auto kLanes = static_cast<int64_t>(kF32Lanes);
  const F32 d;
  const VF32 largest = hn::Set(d, max);
  Sum a, b;
  int64_t e = 0;
  for (; e + 2 * kLanes <= count; e += 2 * kLanes) {
    a.Add(ExponentialOfNegative(d, hn::Sub(hn::LoadU(d, x + e), largest)));
    b.Add(ExponentialOfNegative(d, hn::Sub(hn::LoadU(d, x + e + kLanes), largest)));
  }
  for (; e < count; e += kLanes) {
    const int64_t lanes = std::min(kLanes, count - e);
    const VF32 of_some = ExponentialOfNegative(d, hn::Sub(LoadSome(d, x + e, lanes), largest));
    a.Add(hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(lanes)), of_some));
  }
  a.Join(b);
  return a.Total();
}

HWY_INLINE void MultiplyRow(float* y, int64_t count, float factor) {
  constexpr auto kLanes = static_cast<int64_t>(kF32Lanes);
  const F32 d;
  const VF32 by = hn::Set(d, factor);
  int64_t e = 0;
  for (; e + kLanes <= count; e += kLanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, y + e), by), d, y + e);
  }
  if (e < count) StoreFirst(d, hn::Mul(LoadFirst(d, y + e, count - e), by), y + e, count - e);
}

// Returns the largest element of each of several groups side by side. load(0, c) is element c of
// each of them, for c in [0, count), and count ≥ 1.
template <class LoadColumn>
HWY_INLINE VF32 LargestOfColumns(int64_t count, LoadColumn load) {
  VF32 max = load(0, 0);
  for (int64_t c = 1; c < count; ++c) max = hn::Max(max, load(0, c));
  return max;
}

// Returns Σ e^(x − max) of the same groups.
template <class LoadColumn>
HWY_INLINE Sum SumOfColumnExponentials(int64_t count, LoadColumn load, VF32 max) {
  Sum sum;
  for (int64_t c = 0; c < count; ++c) {
    sum.Add(ExponentialOfNegative(F32(), hn::Sub(load(0, c), max)));
  }
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_SOFTMAX_ROW_H_
