// Walks several plain tensors at once, each with strides of its own: broadcasting, reductions,
// transposes, slices. A space is made when a kernel is prepared; walking it allocates nothing.
#ifndef CGRUN_KERNELS_STRIDED_H_
#define CGRUN_KERNELS_STRIDED_H_

#include <array>
#include <cstdint>
#include <vector>

#include "src/base/shape.h"
#include "src/ir/signature.h"

namespace cgrun {

// Holds an index space and K offsets that follow it. Axes of size 1 are left out. Axes that lie one
// after another for every operand are one. At least one axis stays, the inner loop.
template <size_t K>
struct StridedSpace {
  struct Axis {
    int64_t size = 1;
    std::array<int64_t, K> strides{};  // in elements; 0 repeats
  };
  std::vector<Axis> outer;  // slowest first
  Axis inner;
  int64_t outer_count = 1;
};

template <size_t K>
StridedSpace<K> MakeSpace(const std::vector<int64_t>& sizes,
                          const std::array<std::vector<int64_t>, K>& strides) {
  StridedSpace<K> space;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis] == 1) continue;
    typename StridedSpace<K>::Axis next{sizes[axis], {}};
    for (size_t k = 0; k < K; ++k) next.strides[k] = strides[k][axis];
    bool joins = !space.outer.empty();
    for (size_t k = 0; joins && k < K; ++k) {
      joins = space.outer.back().strides[k] == next.strides[k] * next.size;
    }
    if (joins) {
      next.size *= space.outer.back().size;
      space.outer.pop_back();
    }
    space.outer.push_back(next);
  }
  if (!space.outer.empty()) {
    space.inner = space.outer.back();
    space.outer.pop_back();
  }
  for (const auto& axis : space.outer) space.outer_count *= axis.size;
  return space;
}

// Calls f(offsets) for every index, in row-major order; offsets begin at `base`.
template <size_t K, class F>
void ForEachIndex(const StridedSpace<K>& space, const std::array<int64_t, K>& base, F f) {
  for (int64_t outer = 0; outer < space.outer_count; ++outer) {
    std::array<int64_t, K> at = base;
    int64_t rest = outer;
    for (size_t axis = space.outer.size(); axis-- > 0;) {
      const int64_t index = rest % space.outer[axis].size;
      rest /= space.outer[axis].size;
      for (size_t k = 0; k < K; ++k) at[k] += index * space.outer[axis].strides[k];
    }
    for (int64_t index = 0; index < space.inner.size; ++index) {
      f(at);
      for (size_t k = 0; k < K; ++k) at[k] += space.inner.strides[k];
    }
  }
}

// The strides with which an operand of `shape` follows the indices of `result`, to which it is
// broadcast by NumPy's rules.
inline std::vector<int64_t> BroadcastStrides(const Shape& shape, const Shape& result) {
  const std::vector<int64_t> own = RowMajorStrides(shape);
  std::vector<int64_t> strides(static_cast<size_t>(result.rank()), 0);
  const int leading = result.rank() - shape.rank();
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const size_t to = static_cast<size_t>(axis + leading);
    if (shape[axis].size > 1) strides[to] = own[static_cast<size_t>(axis)];
  }
  return strides;
}

// The walk over the indices of a node's result: offsets of each operand, then of the result.
template <size_t kInputs>
StridedSpace<kInputs + 1> BroadcastSpace(const NodeSignature& node) {
  const Shape& y = node.outputs[0].shape;
  std::array<std::vector<int64_t>, kInputs + 1> strides;
  for (size_t k = 0; k < kInputs; ++k) strides[k] = BroadcastStrides(node.inputs[k].shape, y);
  strides[kInputs] = RowMajorStrides(y);
  return MakeSpace<kInputs + 1>(y.Sizes(), strides);
}

}  // namespace cgrun

#endif  // CGRUN_KERNELS_STRIDED_H_
