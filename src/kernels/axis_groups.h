// Sees a plain tensor as groups of elements along one axis.
#ifndef CGRUN_KERNELS_AXIS_GROUPS_H_
#define CGRUN_KERNELS_AXIS_GROUPS_H_

#include <cstdint>

#include "src/base/shape.h"

namespace cgrun {

// A group has `size` elements, `stride` apart. Groups are numbered in row-major order of the other
// axes.
struct AxisGroups {
  int64_t count = 1;
  int64_t size = 1;
  int64_t stride = 1;

  // The offset of a group's first element.
  int64_t First(int64_t group) const { return group / stride * size * stride + group % stride; }
};

inline AxisGroups GroupsAlong(const Shape& shape, int axis) {
  AxisGroups groups;
  groups.size = shape[axis].size;
  for (int i = axis + 1; i < shape.rank(); ++i) groups.stride *= shape[i].size;
  groups.count = shape.Elements() / groups.size;
  return groups;
}

}  // namespace cgrun

#endif  // CGRUN_KERNELS_AXIS_GROUPS_H_
