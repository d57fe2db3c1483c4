// Converts between any two number types by way of three wide ones. So a new type costs one way in
// and three ways out, and no pair has code of its own.
#ifndef CGRUN_KERNELS_WIDE_CAST_H_
#define CGRUN_KERNELS_WIDE_CAST_H_

#include <cstdint>
#include <type_traits>

#include "src/base/float16.h"
#include "src/kernels/number.h"

namespace cgrun::kernels {

template <class T>
inline constexpr bool kIsReal = kIsFloat<T> || std::is_same_v<T, Float16>;

// double for floats, uint64 for itself, int64 for other integers and bools: each holds every number
// of T.
template <class T>
using Wide = std::conditional_t<kIsReal<T>, double,
                                std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>>;

template <class T>
constexpr Wide<T> Widen(T value) {
  if constexpr (std::is_same_v<T, Float16> || kIsBF16<T>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<Wide<T>>(value);
  }
}

// Rounds as the operator `cast` does: bf16 by way of f32, f16 once.
template <class To, class W>
constexpr To Narrow(W wide) {
  if constexpr (std::is_same_v<To, bool>) {
    return wide != 0;
  } else if constexpr (std::is_same_v<To, Float16>) {
    return Float16(static_cast<double>(wide));
  } else if constexpr (kIsBF16<To>) {
    return To(static_cast<float>(wide));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<W>) {
    return ToInteger<To>(wide);
  } else {
    return static_cast<To>(wide);
  }
}

}  // namespace cgrun::kernels

#endif  // CGRUN_KERNELS_WIDE_CAST_H_
