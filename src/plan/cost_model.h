// The cost model: how long a node, a step or a transfer takes. All that trades time for memory
// compares these seconds.
#ifndef CGRUN_PLAN_COST_MODEL_H_
#define CGRUN_PLAN_COST_MODEL_H_

#include "src/ir/graph.h"
#include "src/ops/target.h"
#include "src/plan/schedule.h"

namespace cgrun {

// Returns the seconds of a node with its kernel, as measured. If there is no measurement, they are
// the time that its bytes take to and from memory. A node that does more than a little for each
// element can have a longer estimate by the target, which then counts. KernelChoice::slower_by is
// included.
double SecondsOf(const Graph& graph, const Node& node);
// The same for a kernel that the node does not have.
double SecondsWithOption(const NodeSignature& node, const KernelOption& option);
// For one that does little for each element: its bytes to and from memory.
double SecondsToMove(const NodeSignature& node);
// SecondsOf all nodes but transfers, which go on meanwhile (SecondsWaited()).
double SecondsOfStep(const Graph& graph);
// The part of that which is spent for less memory: recomputation, and kernels that are slower in a
// smaller workspace.
double SecondsForLess(const Graph& graph);

// A transfer's tensor in the file, which all its nodes read or write.
ValueId FileOf(const Node& node);

// Returns the seconds that a scheduled step waits for transfers. Its nodes run one after the other
// while transfers go on.
double SecondsWaited(const Graph& graph, const Schedule& schedule);

// Returns SecondsForLess as a share of the step without it.
double ShareForLess(const Graph& graph);

}  // namespace cgrun

#endif  // CGRUN_PLAN_COST_MODEL_H_
