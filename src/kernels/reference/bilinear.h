// Reading and spreading between the four pixels around a place, for kernels that find one place for
// each pixel of an image and use it for all planes of a sample.
#ifndef CGRUN_KERNELS_REFERENCE_BILINEAR_H_
#define CGRUN_KERNELS_REFERENCE_BILINEAR_H_

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "src/kernels/reference/number.h"

namespace cgrun::reference {

// Holds four pixels of a plane with their weights, which add up to 1. If a pixel is outside of the
// plane, its offset is −1.
struct FourTaps {
  int64_t offset[4];
  double weight[4];
};

// Around row `y` and column `x` of a plane, which may lie outside.
inline FourTaps TapsAt(double y, double x, int64_t height, int64_t width) {
  const double top = std::floor(y), left = std::floor(x);
  const double below = y - top, right = x - left;
  const double rows[2] = {1 - below, below}, columns[2] = {1 - right, right};
  FourTaps taps;
  for (int i = 0; i < 4; ++i) {
    const double row = top + i / 2, column = left + i % 2;
    const bool inside = row >= 0 && row < static_cast<double>(height) && column >= 0 &&
                        column < static_cast<double>(width);
    taps.offset[i] = inside ? static_cast<int64_t>(row) * width + static_cast<int64_t>(column) : -1;
    taps.weight[i] = rows[i / 2] * columns[i % 2];
  }
  return taps;
}

// A pixel of weight 0 takes no part, whatever it is.
template <class T>
double ReadTaps(const FourTaps& taps, const T* plane, double fill) {
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    if (taps.weight[i] == 0) continue;
    sum += taps.weight[i] * (taps.offset[i] < 0 ? fill : LoadF64(plane[taps.offset[i]]));
  }
  return sum;
}

inline void SpreadTaps(const FourTaps& taps, double value, double* plane) {
  for (int i = 0; i < 4; ++i) {
    if (taps.offset[i] >= 0) plane[taps.offset[i]] += taps.weight[i] * value;
  }
}

// uint8: to nearest, halves up.
template <class T>
T RoundPixel(double value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::clamp(value + 0.5, 0.0, 255.0));
  } else {
    return StoreF64<T>(value);
  }
}

// Kernel<T>::Run for uint8 or a floating-point type. Static as number.h says.
template <template <class> class Kernel>
static KernelFunction ForPixels(DType dtype) {
  return dtype == DType::kU8 ? &Kernel<uint8_t>::Run : ForFloat<Kernel>(dtype);
}

inline bool HasReferencePixels(const NodeSignature& node) {
  return node.inputs[0].dtype == DType::kU8 || IsComputed(node.inputs[0].dtype);
}

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_BILINEAR_H_
