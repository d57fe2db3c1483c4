// Defines formulas of integers, and pairs them with those of floats. A result that does not fit
// wraps around. Integers cannot be infinite: a division by 0 gives 0.
#ifndef CGRUN_KERNELS_REFERENCE_INTEGERS_H_
#define CGRUN_KERNELS_REFERENCE_INTEGERS_H_

#include <algorithm>
#include <type_traits>

#include "src/kernels/reference/number.h"

namespace cgrun::reference::integers {

// Unsigned numbers wrap around where signed ones would overflow.
template <class T>
constexpr std::make_unsigned_t<T> Bits(T value) {
  return static_cast<std::make_unsigned_t<T>>(value);
}

struct Add {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(Bits(a) + Bits(b));
  }
};

struct Sub {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(Bits(a) - Bits(b));
  }
};

struct Mul {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(Bits(a) * Bits(b));
  }
};

struct Neg {
  template <class T>
  constexpr T operator()(T x) const {
    return Sub()(T(0), x);
  }
};

// The least number has no counterpart, and stays as it is.
struct Abs {
  template <class T>
  constexpr T operator()(T x) const {
    return x < 0 ? Neg()(x) : x;
  }
};

struct Sign {
  template <class T>
  constexpr T operator()(T x) const {
    return static_cast<T>((x > 0) - (x < 0));
  }
};

// The fraction is cut off. A processor faults where the least number is divided by −1.
struct Div {
  template <class T>
  constexpr T operator()(T a, T b) const {
    if (b == 0) return 0;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Neg()(a);
    return static_cast<T>(a / b);
  }
};

struct Min {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return std::min(a, b);
  }
};

struct Max {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return std::max(a, b);
  }
};

// Gives the remainder of Div; 0 for a division by 0.
struct Remainder {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return b == 0 ? T(0) : Sub()(a, Mul()(Div()(a, b), b));
  }
};

// Gives the remainder with the sign of b.
struct Modulus {
  template <class T>
  constexpr T operator()(T a, T b) const {
    const T rest = Remainder()(a, b);
    const bool differs = rest != 0 && (rest < 0) != (b < 0);
    return differs ? Add()(rest, b) : rest;
  }
};

}  // namespace cgrun::reference::integers

namespace cgrun::reference {

// The formula of a kernel that takes floats and integers.
template <class Real, class Whole>
struct Numeric {
  static constexpr bool kTakesIntegers = true;

  template <class C, class... More>
  constexpr C operator()(C x, More... more) const {
    if constexpr (std::is_integral_v<C>) {
      return Whole()(x, more...);
    } else {
      return Real()(x, more...);
    }
  }
};

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_INTEGERS_H_
