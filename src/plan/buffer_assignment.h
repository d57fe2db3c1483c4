// Buffers: the alias sets of a schedule (alias_model.h) and the workspaces of its nodes. If asked
// for, joined operands lie in the result from the beginning, and a slice lies in its source.
#ifndef CGRUN_PLAN_BUFFER_ASSIGNMENT_H_
#define CGRUN_PLAN_BUFFER_ASSIGNMENT_H_

#include <vector>

#include "src/base/arena_kind.h"
#include "src/base/inline_vector.h"
#include "src/plan/liveness.h"

namespace cgrun {

// Values that share bytes, all from the buffer's first byte on, but for the parts of others.
struct SharedBuffer {
  int64_t bytes = 0;
  Zone zone = Zone::kForward;
  ArenaKind arena = ArenaKind::kDevice;
  bool persistent = false;  // state and constants: it keeps its bytes between steps
  bool kept = false;        // transient, but so does it: of a program that runs in part
  Lifespan lifespan;
  // In the order in which they are written, the parts of others behind them; empty for a workspace.
  InlineVector<ValueId, 4> values;
  NodeId workspace_of;  // valid for a workspace
};

using SharedBufferId = Id<struct SharedBufferTag>;

struct BufferAssignment {
  Liveness liveness;
  IdVector<SharedBufferId, SharedBuffer> buffers;
  IdVector<ValueId, SharedBufferId> of_value;
  IdVector<ValueId, int64_t> offset;  // bytes into the buffer: 0, but for the parts of others
  IdVector<NodeId, SharedBufferId> of_workspace;  // invalid where a node needs none
  IdVector<NodeId, bool> elided;                  // views that need no instruction
  int64_t in_place_bytes = 0;                     // saved by in-place operators and parts
  int sub_buffers = 0;                            // buffers that lie in others
};

// `graph` has kernels and legal updates.
BufferAssignment AssignBuffers(const Graph& graph, const Schedule& schedule,
                               const BufferOptions& options = {});

// Aligned bytes of the device's transient buffers that are alive at each step.
std::vector<Bytes> TransientBytes(const BufferAssignment& assignment);

// Does the same for a schedule, without sub-buffers.
std::vector<Bytes> TransientBytes(const Graph& graph, const Schedule& schedule,
                                  const BufferOptions& options = {});

}  // namespace cgrun

#endif  // CGRUN_PLAN_BUFFER_ASSIGNMENT_H_
