// Holds the decisions of a memory planner beside addresses: values to recompute and values to swap
// out.
#ifndef CGRUN_IR_REMAT_PLAN_H_
#define CGRUN_IR_REMAT_PLAN_H_

#include <vector>

#include "src/ir/graph.h"

namespace cgrun {

// Has `nodes` recomputed, each after those whose results it reads. Only `readers` read the second
// results, instead of the first.
struct RecomputeDecision {
  std::vector<NodeId> nodes;
  std::vector<NodeId> readers;
};

// `value` is written to the swap file, and `readers` read what comes back from there.
struct SwapDecision {
  ValueId value;
  std::vector<NodeId> readers;
  double write_seconds = 0;  // that the file takes
  double read_seconds = 0;
};

struct RematPlan {
  std::vector<RecomputeDecision> recompute;
  std::vector<SwapDecision> swap;

  bool empty() const { return recompute.empty() && swap.empty(); }
};

}  // namespace cgrun

#endif  // CGRUN_IR_REMAT_PLAN_H_
