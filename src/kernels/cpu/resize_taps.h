// Where each row and column of the larger grid of a resize reads from.
#ifndef CGRUN_KERNELS_CPU_RESIZE_TAPS_H_
#define CGRUN_KERNELS_CPU_RESIZE_TAPS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/ir/signature.h"
#include "src/ops/resize.h"

namespace cgrun::cpu {

// The rows or columns of the resized grid: each lies between two of the original.
struct ResizeAxis {
  int64_t original = 1;
  std::vector<int32_t> low, high;
  std::vector<double> weight;  // of `high`

  size_t size() const { return low.size(); }
};

// ((2i + 1)·from − to) / 2to is the position of pixel i, in whole numbers. `nearest`: the first of
// two pixels that are equally near.
inline ResizeAxis ResizeAxisOf(int64_t from, int64_t to, bool nearest) {
  ResizeAxis axis{from, {}, {}, {}};
  for (int64_t i = 0; i < to; ++i) {
    const int64_t position = std::clamp<int64_t>((2 * i + 1) * from - to, 0, 2 * to * (from - 1));
    const int64_t low = position / (2 * to), rest = position % (2 * to);
    const int64_t high = rest > 0 ? low + 1 : low;
    const int64_t nearer = rest > to ? high : low;
    axis.low.push_back(static_cast<int32_t>(nearest ? nearer : low));
    axis.high.push_back(static_cast<int32_t>(nearest ? nearer : high));
    axis.weight.push_back(nearest ? 0 : static_cast<double>(rest) / static_cast<double>(2 * to));
  }
  return axis;
}

inline bool IsNearest(const NodeSignature& node) {
  return node.attributes.As<ResizeAttributes>().mode == "nearest";
}

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_RESIZE_TAPS_H_
