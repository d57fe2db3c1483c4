// These formulas say between which pixels a pixel of a resized image lies, and what it gets of
// them, on the reference device and on CUDA.
#ifndef CGRUN_KERNELS_RESIZE_FORMULAS_H_
#define CGRUN_KERNELS_RESIZE_FORMULAS_H_

#include <cstdint>
#include <type_traits>

#include "src/kernels/number.h"

namespace cgrun::formulas {

// One row or column of a resized grid lies between two of the original.
struct ResizeTap {
  int64_t low = 0;
  int64_t high = 0;
  double weight = 0;  // of `high`
};

// ((2i + 1)·from − to) / 2to is the position of pixel i, in whole numbers.
constexpr ResizeTap BilinearTap(int64_t i, int64_t from, int64_t to) {
  const int64_t exact = (2 * i + 1) * from - to, last = 2 * to * (from - 1);
  const int64_t position = exact < 0 ? 0 : exact > last ? last : exact;
  const int64_t low = position / (2 * to), rest = position % (2 * to);
  return {low, rest > 0 ? low + 1 : low, static_cast<double>(rest) / static_cast<double>(2 * to)};
}

// Takes the first of two pixels that are equally near.
constexpr ResizeTap NearestTap(int64_t i, int64_t from, int64_t to) {
  const ResizeTap tap = BilinearTap(i, from, to);
  const int64_t nearest = tap.weight > 0.5 ? tap.high : tap.low;
  return {nearest, nearest, 0};
}

// Interpolates between two pixels. Equal ends give the very same value.
template <class T>
constexpr double Between(T low, T high, double weight) {
  return kernels::LoadF64(low) + (kernels::LoadF64(high) - kernels::LoadF64(low)) * weight;
}

template <class T>
constexpr T RoundPixel(double value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(value + 0.5);
  } else {
    return kernels::StoreF64<T>(value);
  }
}

}  // namespace cgrun::formulas

#endif  // CGRUN_KERNELS_RESIZE_FORMULAS_H_
