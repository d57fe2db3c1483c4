// Moves, compares and chooses boxes. region_proposals and detections share these functions.
#ifndef CGRUN_KERNELS_REFERENCE_COORDINATES_H_
#define CGRUN_KERNELS_REFERENCE_COORDINATES_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "src/base/check.h"
#include "src/kernels/kernel.h"

namespace cgrun::reference {

// `supports` of kernels of coordinates, which are f32 or f64.
inline bool HasCoordinates(const NodeSignature& node) {
  return node.inputs[0].dtype == DType::kF32 || node.inputs[0].dtype == DType::kF64;
}

// Kernel<T>::Run of the type of input 0. Static as number.h says.
template <template <class> class Kernel>
static KernelFunction ForCoordinates(const NodeSignature& node) {
  CGRUN_CHECK(HasCoordinates(node)) << "no coordinates of " << Name(node.inputs[0].dtype);
  return node.inputs[0].dtype == DType::kF64 ? &Kernel<double>::Run : &Kernel<float>::Run;
}

// In pixels of the image.
template <class T>
struct BoxOf {
  T x1 = 0, y1 = 0, x2 = 0, y2 = 0;
};

// Says how a box is moved: dx, dy, dw, dh.
template <class T>
using Deltas = std::array<T, 4>;

// Moved, and cut off at the edges of the image. NaN stays NaN.
template <class T>
BoxOf<T> Moved(const BoxOf<T>& box, const Deltas<T>& deltas, T image_width, T image_height) {
  const T width = box.x2 - box.x1, height = box.y2 - box.y1;
  const T x = box.x1 + width / 2 + deltas[0] * width, y = box.y1 + height / 2 + deltas[1] * height;
  const T half_width = width * std::exp(deltas[2]) / 2,
          half_height = height * std::exp(deltas[3]) / 2;
  return {std::clamp(x - half_width, T(0), image_width),
          std::clamp(y - half_height, T(0), image_height),
          std::clamp(x + half_width, T(0), image_width),
          std::clamp(y + half_height, T(0), image_height)};
}

// NaN is not known to be empty.
template <class T>
bool IsEmpty(const BoxOf<T>& box) {
  return box.x2 <= box.x1 || box.y2 <= box.y1;
}

// Divides the intersection by the union. If the boxes share nothing, it is 0.
template <class T>
T IntersectionOverUnion(const BoxOf<T>& a, const BoxOf<T>& b) {
  const T width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  const T height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  if (!(width > 0 && height > 0)) return 0;
  const T shared = width * height;
  return shared / ((a.x2 - a.x1) * (a.y2 - a.y1) + (b.x2 - b.x1) * (b.y2 - b.y1) - shared);
}

// Compares boxes for sorting: the higher score goes first, of equal ones the lower index. NaN goes
// last.
template <class T>
struct ByScore {
  const T* scores = nullptr;

  T Key(int32_t index) const {
    return std::isnan(scores[index]) ? -std::numeric_limits<T>::infinity() : scores[index];
  }
  bool operator()(int32_t a, int32_t b) const {
    const T score_a = Key(a), score_b = Key(b);
    return score_a != score_b ? score_a > score_b : a < b;
  }
};

// Runs non-maximum suppression. It writes the indices of `boxes`, in their order, `kept.size()` at
// most, and returns how many. A box is kept if it has an area and overlaps with none kept before of
// the same class by more than `max_iou`. `same_class(i, j)` says whether two boxes are of one
// class.
template <class T, class SameClass>
int64_t SuppressNonMaxima(std::span<const BoxOf<T>> boxes, T max_iou, std::span<int32_t> kept,
                          SameClass same_class) {
  size_t count = 0;
  for (size_t i = 0; i < boxes.size() && count < kept.size(); ++i) {
    if (IsEmpty(boxes[i])) continue;
    const auto covers = [&](int32_t before) {
      const auto j = static_cast<size_t>(before);
      return same_class(i, j) && IntersectionOverUnion(boxes[i], boxes[j]) > max_iou;
    };
    if (std::none_of(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count), covers)) {
      kept[count++] = static_cast<int32_t>(i);
    }
  }
  return static_cast<int64_t>(count);
}

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_COORDINATES_H_
