// An image with its padding written out, so that pooling goes through it in whole vectors of
// outputs, without a question about bounds. Included once for each target.
#if defined(CGRUN_KERNELS_CPU_PADDED_PLANE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_PADDED_PLANE_H_
#undef CGRUN_KERNELS_CPU_PADDED_PLANE_H_
#else
#define CGRUN_KERNELS_CPU_PADDED_PLANE_H_
#endif

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "src/kernels/cpu/sums.h"
#include "src/ops/window.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

struct PaddedPlane {
  WindowAxis y, x;
  int64_t rows = 0;
  int64_t columns = 0;  // with what the last vector of outputs reads behind the end

  int64_t elements() const { return rows * columns; }
  // Returns what kernel position (0, 0) of output (row, 0) reads.
  const float* Line(const float* plane, int64_t row) const {
    return plane + row * y.stride * columns;
  }
};

inline int64_t RoundToLanes(int64_t n) {
  constexpr auto kLanes = static_cast<int64_t>(kF32Lanes);
  return (n + kLanes - 1) / kLanes * kLanes;
}

inline PaddedPlane PaddedPlaneOf(const Window& window) {
  const WindowAxis &y = window.y, &x = window.x;
  return {y, x, (y.output - 1) * y.stride + (y.kernel - 1) * y.dilation + 1,
          RoundToLanes(x.output) * x.stride + (x.kernel - 1) * x.dilation};
}

// Each thread has a plane.
inline int64_t PlaneBytes(const Window& window, int threads) {
  return threads * PaddedPlaneOf(window).elements() * static_cast<int64_t>(sizeof(float));
}

// Converts between f32 and bf16. If `to` is bf16, it rounds.
template <class From, class To>
inline void CopyNumbers(const From* from, int64_t count, To* to) {
  constexpr auto kLanes = static_cast<int64_t>(kF32Lanes);
  const F32 d;
  for (int64_t e = 0; e < count; e += kLanes) {
    const int64_t lanes = std::min(kLanes, count - e);
    StoreSome(d, LoadSome(d, from + e, lanes), to + e, lanes);
  }
}

// Copies the image into the middle. The rest, which was filled once, stays as it is.
template <class T>
inline void CopyInto(const PaddedPlane& p, const T* image, float* plane) {
  const int64_t width = std::min(p.x.input, p.columns - p.x.before);
  for (int64_t row = 0; row < std::min(p.y.input, p.rows - p.y.before); ++row) {
    float* to = plane + (row + p.y.before) * p.columns + p.x.before;
    if constexpr (std::is_same_v<T, float>) {
      std::memcpy(to, image + row * p.x.input, static_cast<size_t>(width) * sizeof(float));
    } else {
      CopyNumbers(image + row * p.x.input, width, to);
    }
  }
}

// Floats in which a thread adds up a plane of a gradient of bf16, since a sum is rounded once: the
// plane, then a row of dy.
inline int64_t GradientElements(const Window& window) {
  return window.y.input * window.x.input + window.x.output;
}

// A gradient of f32 is added up where it belongs.
inline int64_t GradientBytes(const Window& window, DType dtype, int threads) {
  if (dtype == DType::kF32) return 0;
  return threads * GradientElements(window) * static_cast<int64_t>(sizeof(float));
}

// Every kStride-th number (0: every `stride`-th), as many as a vector has lanes.
template <int kStride>
HWY_INLINE VF32 LoadStrided(const float* from, int64_t stride) {
  const F32 d;
  if constexpr (kStride == 1) {
    return hn::LoadU(d, from);
  } else if constexpr (kStride == 2) {
    return hn::ConcatEven(d, hn::LoadU(d, from + kF32Lanes), hn::LoadU(d, from));
  } else {
    const hn::Rebind<int32_t, F32> di;
    const auto index = hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(stride)));
    return hn::GatherIndex(d, from, index);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_PADDED_PLANE_H_
