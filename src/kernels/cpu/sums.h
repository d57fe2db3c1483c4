// Declares the states that reductions add up in: sums of f32 vectors in f64, and maxima that a NaN
// wins. A state has as many results as a vector has lanes, or one, of all lanes together. An
// element's lane depends on its index alone. Each target of Highway includes this file once.
#if defined(CGRUN_KERNELS_CPU_SUMS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_SUMS_H_
#undef CGRUN_KERNELS_CPU_SUMS_H_
#else
#define CGRUN_KERNELS_CPU_SUMS_H_
#endif

#include <cmath>
#include <limits>

#include "src/kernels/cpu/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

using F32 = hn::ScalableTag<float>;
using F64 = hn::ScalableTag<double>;
using VF32 = hn::Vec<F32>;
using VF64 = hn::Vec<F64>;
inline constexpr size_t kF32Lanes = hn::MaxLanes(F32());
inline constexpr size_t kF64Lanes = hn::MaxLanes(F64());

HWY_INLINE VF64 LowerF64(VF32 v) { return hn::PromoteTo(F64(), hn::LowerHalf(v)); }
HWY_INLINE VF64 UpperF64(VF32 v) { return hn::PromoteTo(F64(), hn::UpperHalf(hn::Half<F32>(), v)); }

// The two halves rounded to f32, as LowerF64 and UpperF64 took them apart.
HWY_INLINE VF32 RoundedToF32(VF64 lower, VF64 upper) {
  const hn::Half<F32> half;
  return hn::Combine(F32(), hn::DemoteTo(half, upper), hn::DemoteTo(half, lower));
}

// Sums of products or numbers. It begins at −0, to which every number may be added: −0 stays −0.
struct Sum {
  static constexpr float kNeutral = -0.0F;

  VF64 low, high;

  // Written out, since g++ compiles an implicit one for the least instruction set.
  HWY_INLINE Sum() : low(hn::Set(F64(), -0.0)), high(hn::Set(F64(), -0.0)) {}

  HWY_INLINE void Add(VF32 v) { AddWide(LowerF64(v), UpperF64(v)); }
  HWY_INLINE void AddWide(VF64 lower, VF64 upper) {
    low = hn::Add(low, lower);
    high = hn::Add(high, upper);
  }
  HWY_INLINE void AddProduct(VF32 a, VF32 b) {
    low = hn::MulAdd(LowerF64(a), LowerF64(b), low);
    high = hn::MulAdd(UpperF64(a), UpperF64(b), high);
  }
  HWY_INLINE void AddSquare(VF64 lower, VF64 upper) {
    low = hn::MulAdd(lower, lower, low);
    high = hn::MulAdd(upper, upper, high);
  }
  HWY_INLINE void Join(const Sum& other) { AddWide(other.low, other.high); }

  // Stores the sum of each lane.
  HWY_INLINE void Lanes(double* lanes) const {
    hn::StoreU(low, F64(), lanes);
    hn::StoreU(high, F64(), lanes + kF64Lanes);
  }
  HWY_INLINE VF32 RoundedLanes() const { return RoundedToF32(low, high); }
  HWY_INLINE double Total() const {
    HWY_ALIGN double lanes[kF64Lanes];
    hn::StoreU(hn::Add(low, high), F64(), lanes);
    double total = lanes[0];
    for (size_t lane = 1; lane < kF64Lanes; ++lane) total += lanes[lane];
    return total;
  }
  static double Join(double a, double b) { return a + b; }
};

struct Max {
  static constexpr float kNeutral = -std::numeric_limits<float>::infinity();

  VF32 max;

  HWY_INLINE Max() : max(hn::Set(F32(), kNeutral)) {}

  HWY_INLINE void Add(VF32 v) {
    max = hn::IfThenElse(hn::Or(hn::Gt(v, max), hn::IsNaN(v)), v, max);
  }
  HWY_INLINE void Join(const Max& other) { Add(other.max); }

  HWY_INLINE void Lanes(double* lanes) const {
    HWY_ALIGN float floats[kF32Lanes];
    hn::StoreU(max, F32(), floats);
    for (size_t lane = 0; lane < kF32Lanes; ++lane) lanes[lane] = static_cast<double>(floats[lane]);
  }
  HWY_INLINE double Total() const {
    HWY_ALIGN double lanes[kF32Lanes];
    Lanes(lanes);
    double total = lanes[0];
    for (size_t lane = 1; lane < kF32Lanes; ++lane) total = Join(total, lanes[lane]);
    return total;
  }
  static double Join(double a, double b) { return b > a || std::isnan(b) ? b : a; }
};

// Several, so that an addition need not wait for the one before it.
template <class State, size_t kCount>
struct States {
  State all[kCount];

  HWY_INLINE States() {}  // written out as above
  HWY_INLINE State& operator[](size_t s) { return all[s]; }
};

// A result whose elements are contiguous has as many.
inline constexpr size_t kRowStates = 4;

// Adds x[0 … count) to `states`, vector after vector in turn.
template <class State, size_t kStates, class T>
HWY_INLINE void AddRow(const T* x, int64_t count, States<State, kStates>& states) {
  constexpr auto kLanes = static_cast<int64_t>(kF32Lanes);
  constexpr auto kStep = static_cast<int64_t>(kStates) * kLanes;
  States<State, kStates> local = states;  // in registers
  int64_t e = 0;
  for (; e + kStep <= count; e += kStep) {
#pragma GCC unroll 8
    for (size_t s = 0; s < kStates; ++s) {
      local[s].Add(LoadLanes(F32(), x + e + static_cast<int64_t>(s) * kLanes));
    }
  }
#pragma GCC unroll 8
  for (size_t s = 0; s < kStates && e < count; ++s, e += kLanes) {
    const VF32 neutral = hn::Set(F32(), State::kNeutral);
    local[s].Add(e + kLanes <= count ? LoadLanes(F32(), x + e)
                                     : LoadFirstOr(F32(), x + e, count - e, neutral));
  }
  states = local;
}

// Joins all of `states` and returns the result.
template <class State, size_t kStates>
HWY_INLINE double TotalOf(States<State, kStates>& states) {
#pragma GCC unroll 8
  for (size_t s = 1; s < kStates; ++s) states[0].Join(states[s]);
  return states[0].Total();
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_SUMS_H_
