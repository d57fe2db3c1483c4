// Parts in place: what concat joins is written where its result will lie, and what concat_grad or
// slice takes out of a tensor stays where it lies in that. The kernels find nothing to copy then.
//
//   before            a ███████        part of a network: two branches are joined
//                     b     ████
//                     y        █████████   y = concat(a, b)
//
//   in place          y ████████████████   a and b lie in y, which is alive from the first of them
//   on
//
// So it takes less where the result is alive beside what it is made from, and more where one part
// waits long for the others.
#ifndef CGRUN_PLAN_PARTS_IN_PLACE_H_
#define CGRUN_PLAN_PARTS_IN_PLACE_H_

#include "src/plan/buffer_assignment.h"

namespace cgrun {

// Moves buffers into others, tensor by tensor, where no step has more bytes alive then than the
// fullest one has before. `assignment` is one of `graph`, whose nodes have kernels, by `schedule`.
void PutPartsInPlace(const Graph& graph, const Schedule& schedule, bool zones_apart,
                     BufferAssignment* assignment);

}  // namespace cgrun

#endif  // CGRUN_PLAN_PARTS_IN_PLACE_H_
