// Sub-buffers: the operands of concat are written where its result will lie. The parts that
// concat_grad or slice takes out of a tensor stay where they lie in that tensor. The kernels then
// copy nothing.
//
//   before            a ███████        part of a network: two branches are joined
//                     b     ████
//                     y        █████████   y = concat(a, b)
//
//   sub-buffers       y ████████████████   a and b lie in y, which is alive from the first on
//
// This takes less memory where the result is alive beside its operands, and more where one operand
// waits long for the others.
#ifndef CGRUN_PLAN_SUB_BUFFERS_H_
#define CGRUN_PLAN_SUB_BUFFERS_H_

#include "src/plan/buffer_assignment.h"

namespace cgrun {

// Moves buffers into others, tensor by tensor, where no step has more bytes alive then than the
// fullest one has before. `assignment` is one of `graph`, whose nodes have kernels, by `schedule`.
void PlaceSubBuffers(const Graph& graph, const Schedule& schedule, bool zones_apart,
                     BufferAssignment* assignment);

}  // namespace cgrun

#endif  // CGRUN_PLAN_SUB_BUFFERS_H_
