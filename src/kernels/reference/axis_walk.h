// Walks the lines of a tensor along one axis.
#ifndef CGRUN_KERNELS_REFERENCE_AXIS_WALK_H_
#define CGRUN_KERNELS_REFERENCE_AXIS_WALK_H_

#include "src/base/check.h"
#include "src/ir/signature.h"
#include "src/ops/infer.h"

namespace cgrun::reference {

// Describes a tensor as [outer, size, inner], where `size` is that of the axis.
struct AxisLines {
  int64_t outer = 1, size = 1, inner = 1;
};

inline AxisLines LinesOf(const Shape& shape, int64_t axis) {
  const auto normal = NormalizeAxis(axis, shape.rank());
  CGRUN_CHECK(normal.has_value()) << "no axis " << axis;
  AxisLines lines;
  for (int i = 0; i < *normal; ++i) lines.outer *= shape[i].size;
  lines.size = shape[*normal].size;
  for (int i = *normal + 1; i < shape.rank(); ++i) lines.inner *= shape[i].size;
  return lines;
}

// Calls f(line, first) for each line: its number, and the offset of its first element. The elements
// of a line lie `lines.inner` apart.
template <class F>
void ForEachLine(const AxisLines& lines, F f) {
  for (int64_t outer = 0; outer < lines.outer; ++outer) {
    for (int64_t inner = 0; inner < lines.inner; ++inner) {
      f(outer * lines.inner + inner, outer * lines.size * lines.inner + inner);
    }
  }
}

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_AXIS_WALK_H_
