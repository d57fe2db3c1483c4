// Defines vectors of numbers for one instruction set: loads and stores of whole vectors and of the
// first few lanes. bf16 is computed in f32 and rounded on store. Each target of Highway includes
// this file once.
//
// A function of ours that takes a tag or a vector must not have the name of one of Highway's, which
// would be called in its place wherever it fits better.
#if defined(CGRUN_KERNELS_CPU_LANES_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_LANES_H_
#undef CGRUN_KERNELS_CPU_LANES_H_
#else
#define CGRUN_KERNELS_CPU_LANES_H_
#endif

#include <cstring>
#include <type_traits>

#include "src/base/dtype.h"
#include "src/kernels/cpu/highway_target.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The vectors in which elements of type T are computed.
template <class T>
using TagOf = hn::ScalableTag<std::conditional_t<std::is_same_v<T, BFloat16>, float, T>>;

template <class D>
HWY_INLINE hn::Vec<D> LoadLanes(D d, const hn::TFromD<D>* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> LoadLanes(D d, const BFloat16* from) {
  const hn::Rebind<uint16_t, D> d16;
  const hn::Rebind<uint32_t, D> d32;
  const auto bits = hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, bits)));
}

// f32 in vectors of f64.
template <class D>
requires(sizeof(hn::TFromD<D>) == 8) HWY_INLINE hn::Vec<D> LoadLanes(D d, const float* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
}

// Integers; of bool, true is 1.
template <class D>
HWY_INLINE hn::Vec<D> LoadLanes(D d, const int32_t* from) {
  const auto bits = hn::LoadU(hn::Rebind<int32_t, D>(), from);
  if constexpr (sizeof(hn::TFromD<D>) == 4) return hn::ConvertTo(d, bits);
  if constexpr (sizeof(hn::TFromD<D>) == 8) return hn::PromoteTo(d, bits);
}
template <class D>
HWY_INLINE hn::Vec<D> LoadLanes(D d, const uint8_t* from) {
  const hn::Rebind<int32_t, D> d32;
  const auto bits = hn::PromoteTo(d32, hn::LoadU(hn::Rebind<uint8_t, D>(), from));
  if constexpr (sizeof(hn::TFromD<D>) == 4) return hn::ConvertTo(d, bits);
  if constexpr (sizeof(hn::TFromD<D>) == 8) return hn::PromoteTo(d, bits);
}
template <class D>
HWY_INLINE hn::Vec<D> LoadLanes(D d, const bool* from) {
  return LoadLanes(d, reinterpret_cast<const uint8_t*>(from));
}
template <class D>
HWY_INLINE hn::Vec<D> LoadLanes(D d, const int64_t* from) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return hn::ConvertTo(d, hn::LoadU(hn::Rebind<int64_t, D>(), from));
  } else {
    const hn::Repartition<double, D> d64;
    const hn::Half<D> half;
    const auto lower = hn::DemoteTo(half, LoadLanes(d64, from));
    return hn::Combine(d, hn::DemoteTo(half, LoadLanes(d64, from + hn::Lanes(d64))), lower);
  }
}

template <class D>
HWY_INLINE void StoreLanes(D d, hn::Vec<D> value, hn::TFromD<D>* to) {
  hn::StoreU(value, d, to);
}
// The nearest bf16 in f32, ties to even; a NaN stays a NaN.
template <class D>
HWY_INLINE hn::Vec<D> RoundedToBF16(D d, hn::Vec<D> value) {
  const hn::Rebind<uint32_t, D> d32;
  const auto bits = hn::BitCast(d32, value);
  const auto last = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
  const auto rounded = hn::Add(bits, hn::Add(hn::Set(d32, 0x7FFF), last));
  const auto quiet = hn::Or(bits, hn::Set(d32, 0x400000));
  const auto is_nan = hn::RebindMask(d32, hn::IsNaN(value));
  return hn::BitCast(d, hn::And(hn::IfThenElse(is_nan, quiet, rounded), hn::Set(d32, 0xFFFF0000)));
}

// `value` as an element of type T holds it.
template <class T, class D>
HWY_INLINE hn::Vec<D> RoundedTo(D d, hn::Vec<D> value) {
  if constexpr (std::is_same_v<T, BFloat16>) return RoundedToBF16(d, value);
  return value;
}

// Stores numbers that are exact in the type of the destination.
template <class D>
HWY_INLINE void StoreExact(D d, hn::Vec<D> value, hn::TFromD<D>* to) {
  hn::StoreU(value, d, to);
}
template <class D>
HWY_INLINE void StoreExact(D /*d*/, hn::Vec<D> value, BFloat16* to) {
  const hn::Rebind<uint16_t, D> d16;
  const hn::Rebind<int32_t, D> d32;
  const hn::Rebind<uint32_t, D> du32;
  const auto upper = hn::ShiftRight<16>(hn::BitCast(du32, value));
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(d32, upper)), d16, reinterpret_cast<uint16_t*>(to));
}

template <class D>
HWY_INLINE void StoreLanes(D d, hn::Vec<D> value, BFloat16* to) {
  StoreExact(d, RoundedToBF16(d, value), to);
}

template <class D>
requires(sizeof(hn::TFromD<D>) == 8) HWY_INLINE
    void StoreLanes(D /*d*/, hn::Vec<D> value, float* to) {
  const hn::Rebind<float, D> d32;
  hn::StoreU(hn::DemoteTo(d32, value), d32, to);
}

// Whole numbers up to 255.
template <class D>
requires(sizeof(hn::TFromD<D>) > 1) HWY_INLINE
    void StoreLanes(D /*d*/, hn::Vec<D> value, uint8_t* to) {
  const hn::Rebind<int32_t, D> d32;
  const hn::Rebind<uint8_t, D> d8;
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(d32, value)), d8, to);
  } else {
    hn::StoreU(hn::DemoteTo(d8, hn::DemoteTo(d32, value)), d8, to);
  }
}
// 1 or 0.
template <class D>
HWY_INLINE void StoreLanes(D d, hn::Vec<D> value, bool* to) {
  StoreLanes(d, value, reinterpret_cast<uint8_t*>(to));
}

// Says whether loads and stores can leave out lanes of T, so that memory behind the end is not
// touched.
template <class T>
inline constexpr bool kHasMasks = HWY_TARGET == HWY_AVX3 ||
                                  (HWY_TARGET == HWY_AVX2 && sizeof(T) >= 4);

// The first `n` lanes; the others are 0. 0 < n < Lanes(d).
template <class D, class T>
HWY_INLINE hn::Vec<D> LoadFirst(D d, const T* from, int64_t n) {
  if constexpr (std::is_same_v<T, hn::TFromD<D>> && kHasMasks<T>) {
    return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(n)), d, from);
  } else {
    HWY_ALIGN T lanes[hn::MaxLanes(D())] = {};
    std::memcpy(lanes, from, static_cast<size_t>(n) * sizeof(T));
    return LoadLanes(d, lanes);
  }
}

// Loads the same, and takes the other lanes from `others`.
template <class D, class T>
HWY_INLINE hn::Vec<D> LoadFirstOr(D d, const T* from, int64_t n, hn::Vec<D> others) {
  return hn::IfThenElse(hn::FirstN(d, static_cast<size_t>(n)), LoadFirst(d, from, n), others);
}

template <class D, class T>
HWY_INLINE void StoreFirst(D d, hn::Vec<D> value, T* to, int64_t n) {
  if constexpr (std::is_same_v<T, hn::TFromD<D>> && kHasMasks<T>) {
    hn::BlendedStore(value, hn::FirstN(d, static_cast<size_t>(n)), d, to);
  } else {
    HWY_ALIGN T lanes[hn::MaxLanes(D())];
    StoreLanes(d, value, lanes);
    std::memcpy(to, lanes, static_cast<size_t>(n) * sizeof(T));
  }
}

// A whole vector where n is its number of lanes, else the first n of them.
template <class D, class T>
HWY_INLINE hn::Vec<D> LoadSome(D d, const T* from, int64_t n) {
  return n == static_cast<int64_t>(hn::Lanes(d)) ? LoadLanes(d, from) : LoadFirst(d, from, n);
}
template <class D, class T>
HWY_INLINE void StoreSome(D d, hn::Vec<D> value, T* to, int64_t n) {
  if (n == static_cast<int64_t>(hn::Lanes(d))) {
    StoreLanes(d, value, to);
  } else {
    StoreFirst(d, value, to, n);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_LANES_H_
