// Says for roi_align which map a box reads, and between which elements of the map its samples lie.
// Rows and columns are apart: a sample's weights are those of its row times those of its column.
#ifndef CGRUN_KERNELS_ROI_TAPS_H_
#define CGRUN_KERNELS_ROI_TAPS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "src/ir/signature.h"
#include "src/ops/roi_align.h"

namespace cgrun {

// Describes a row or column of samples between elements `low` and `high`. Their weights add up to
// 1. If the sample lies outside of the map, they are 0.
struct RoiTap {
  int64_t low = 0;
  int64_t high = 0;
  double low_weight = 0;
  double high_weight = 0;
};

// Returns the tap at `position` of a map of `size` elements, the first of which has its centre at
// 0. A position that is NaN makes NaN.
inline RoiTap RoiTapAt(double position, int64_t size) {
  const auto end = static_cast<double>(size);
  if (std::isnan(position)) return {0, 0, position, position};
  const double inside = std::clamp(position, 0.0, end - 1);
  const auto low = static_cast<int64_t>(inside);
  if (position < -1 || position > end) return {low, low, 0, 0};
  const double rest = inside - static_cast<double>(low);
  return {low, std::min(low + 1, size - 1), 1 - rest, rest};
}

struct RoiMap {
  int64_t height = 1;
  int64_t width = 1;
  int64_t stride = 1;
};

// Holds what kernels know of a node.
struct RoiPlan {
  std::vector<RoiMap> maps;
  int64_t images = 1;
  int64_t boxes = 1;  // of an image
  int64_t channels = 1;
  int64_t height = 1;  // of y
  int64_t width = 1;
  int64_t ratio = 1;
  bool aligned = true;

  int64_t rows() const { return height * ratio; }
  int64_t columns() const { return width * ratio; }
};

// Leaves out the heights and widths of the maps.
inline RoiPlan RoiPlanOf(const RoiAlignAttributes& attributes, const Shape& boxes, const Shape& y) {
  RoiPlan plan;
  for (const int64_t stride : attributes.strides) plan.maps.push_back({1, 1, stride});
  plan.images = boxes[0].size;
  plan.boxes = boxes[1].size;
  plan.channels = y[1].size;
  plan.height = y[2].size;
  plan.width = y[3].size;
  plan.ratio = attributes.sampling_ratio;
  plan.aligned = attributes.aligned;
  return plan;
}

// Returns the plan of a node of roi_align.
inline RoiPlan RoiPlanOf(const NodeSignature& node) {
  RoiPlan plan = RoiPlanOf(node.attributes.As<RoiAlignAttributes>(), node.inputs[0].shape,
                           node.outputs[0].shape);
  for (size_t m = 0; m < plan.maps.size(); ++m) {
    plan.maps[m].height = node.inputs[m + 1].shape[2].size;
    plan.maps[m].width = node.inputs[m + 1].shape[3].size;
  }
  return plan;
}

struct RoiBox {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;

  template <class T>
  static RoiBox At(const T* boxes, int64_t index) {
    const T* box = boxes + 4 * index;
    return {static_cast<double>(box[0]), static_cast<double>(box[1]), static_cast<double>(box[2]),
            static_cast<double>(box[3])};
  }
};

// The last map whose stride is at most √(width·height) ÷ 14, or else the first.
inline size_t MapOfBox(const RoiPlan& plan, const RoiBox& box) {
  const double area = (box.x2 - box.x1) * (box.y2 - box.y1);
  size_t map = 0;
  for (size_t m = 1; m < plan.maps.size(); ++m) {
    const double side = 14 * static_cast<double>(plan.maps[m].stride);
    if (area >= side * side) map = m;
  }
  return map;
}

// The samples of one axis of a box that goes from `from` to `to` in pixels of the image.
inline void FillRoiTaps(const RoiPlan& plan, double from, double to, int64_t stride, int64_t size,
                        int64_t samples, RoiTap* taps) {
  const auto pixels = static_cast<double>(stride);
  const double shift = plan.aligned ? 0.5 : 0, start = from / pixels - shift;
  double length = to / pixels - shift - start;
  if (!plan.aligned) length = std::max(length, 1.0);
  const double step = length / static_cast<double>(samples);
  for (int64_t i = 0; i < samples; ++i) {
    taps[i] = RoiTapAt(start + (static_cast<double>(i) + 0.5) * step, size);
  }
}

// Fills in the samples of all rows, then those of all columns.
inline void FillRoiTaps(const RoiPlan& plan, const RoiBox& box, const RoiMap& map, RoiTap* taps) {
  FillRoiTaps(plan, box.y1, box.y2, map.stride, map.height, plan.rows(), taps);
  FillRoiTaps(plan, box.x1, box.x2, map.stride, map.width, plan.columns(), taps + plan.rows());
}

inline int64_t RoiTapBytes(const RoiAlignAttributes& attributes) {
  const int64_t samples = (attributes.size[0] + attributes.size[1]) * attributes.sampling_ratio;
  return samples * static_cast<int64_t>(sizeof(RoiTap));
}

}  // namespace cgrun

#endif  // CGRUN_KERNELS_ROI_TAPS_H_
