// Finds where each row and column of the larger grid of a resize reads from.
#ifndef CGRUN_KERNELS_CPU_RESIZE_TAPS_H_
#define CGRUN_KERNELS_CPU_RESIZE_TAPS_H_

#include <cstdint>
#include <vector>

#include "src/ir/signature.h"
#include "src/kernels/resize_formulas.h"
#include "src/ops/resize.h"

namespace cgrun::cpu {

// The rows or columns of the resized grid: each lies between two of the original.
struct ResizeAxis {
  int64_t original = 1;
  std::vector<int32_t> low, high;
  std::vector<double> weight;  // of `high`

  size_t size() const { return low.size(); }
};

inline ResizeAxis ResizeAxisOf(int64_t from, int64_t to, bool nearest) {
  ResizeAxis axis{from, {}, {}, {}};
  for (int64_t i = 0; i < to; ++i) {
    const auto [low, high, weight] =
        nearest ? formulas::NearestTap(i, from, to) : formulas::BilinearTap(i, from, to);
    axis.low.push_back(static_cast<int32_t>(low));
    axis.high.push_back(static_cast<int32_t>(high));
    axis.weight.push_back(weight);
  }
  return axis;
}

// Planes that are resized, each from its own grid to the other.
struct ResizePlanes {
  int64_t planes = 1;
  ResizeAxis rows, columns;

  int64_t inputs() const { return rows.original * columns.original; }
  int64_t outputs() const { return static_cast<int64_t>(rows.size() * columns.size()); }
};

// The shapes are those of images [N, C, H, W].
inline ResizePlanes ResizePlanesOf(const Shape& original, const Shape& resized, bool nearest) {
  return {original[0].size * original[1].size,
          ResizeAxisOf(original[2].size, resized[2].size, nearest),
          ResizeAxisOf(original[3].size, resized[3].size, nearest)};
}

inline bool IsNearest(const NodeSignature& node) {
  return node.attributes.As<ResizeAttributes>().mode == "nearest";
}

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_RESIZE_TAPS_H_
