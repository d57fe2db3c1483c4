// Rematerialisation at the peak: what a schedule holds at its fullest step only because nodes
// behind that step read it can be let go, and computed again right before them.
//
//   bytes           peak                                       bytes
//     |              |                                           |              |
//     |   +----------|----------------+                          |   +------+   |         +-----+
//     |   |    y     |                |           becomes        |   |  y   |   |         |  y' |
//     |   +----------|----------------+                          |   +------+   |         +-----+
//     |   |    x     |                |                          |   |   x  |   |               |
//     +---+----------+----------------+---> steps                +---+------+---+---------+-----+
//      y = relu(x)          reads y, x                                                y' = relu(x)
//
// What y is computed from must be there when it is computed again: it is held at the peak for other
// readers, or it is computed again, too. Where there is a swap file, y can also be written to it
// behind its last reader before the peak, and read back from there (swap.h).
#ifndef CGRUN_PLAN_RECOMPUTE_H_
#define CGRUN_PLAN_RECOMPUTE_H_

#include <optional>
#include <string>
#include <vector>

#include "src/base/transfer_speed.h"
#include "src/ir/remat_plan.h"
#include "src/ops/target.h"
#include "src/plan/buffer_assignment.h"

namespace cgrun {

// A buffer that need not be held at the peak.
struct RecomputeOption {
  RecomputeDecision decision;        // empty where …
  std::optional<SwapDecision> swap;  // … this is what is done
  Bytes bytes = 0;                   // of the buffer
  double seconds = 0;  // of the nodes that run again, by SecondsOf(), or of what transfers cost
};

// What a swap file is taken for where options are ranked.
struct SwapTerms {
  TransferSpeed speed;
  double share = 1;  // of a transfer's time that counts; computation beside it hides the rest
};

struct RecomputeLimits {
  double seconds = 0;   // of one option
  double emphasis = 1;  // of bytes: the options with most bytes^emphasis a second come first
  int threads = 1;
  BufferOptions buffers;
  bool recompute = true;               // whether anything runs again
  std::optional<SwapTerms> swap = {};  // nothing: no transfers
};

// How long a node with its kernel takes, where that was measured. Else as long as its bytes need to
// and from memory, or as the target estimates where that is longer and the node does more than a
// little for each element. With KernelChoice::slower_by.
double SecondsOf(const Graph& graph, const Node& node);
// For one that does little for each element: its bytes to and from memory.
double SecondsToMove(const NodeSignature& node);
// SecondsOf all nodes but transfers, which go on beside them (SecondsWaited()).
double SecondsOfStep(const Graph& graph);
// What of that is there for less memory: nodes that run again, and kernels that are slower in a
// smaller workspace.
double SecondsForLess(const Graph& graph);

// What the first of the fullest steps of `schedule` need not hold, the best by `limits` first. No
// option needs what another one lets go: the first k of them can be taken together, for any k.
std::vector<RecomputeOption> RecomputeOptionsAtPeak(const Graph& graph, const Schedule& schedule,
                                                    const Target& target,
                                                    const RecomputeLimits& limits);

// What gives a node's first output, or all of them, again.
struct SecondRun {
  std::vector<ValueId> inputs;
  bool gives_all = false;  // the node itself runs, not what its operator has for its first output
  double seconds = 0;
  bool is_view = false;
  Bytes workspace = 0;
  std::vector<InPlacePair> in_place;
};

// Of a node that can run again (NodesThatRunAgain()). Nothing for one without a kernel.
std::optional<SecondRun> SecondRunOf(const Graph& graph, NodeId id, const Target& target,
                                     int threads);

// The order of `before` for a graph that has got nodes that run again or transfer: each stands
// right before the first node that reads it, but for those that write to the swap file: they stand
// behind the node that makes the tensor, and those that wait for them behind its last reader of
// `before`.
Schedule WithSecondRuns(const Graph& graph, const Schedule& before);

// Recompute decisions for the values of these names: their readers of a later phase than their
// producer's read a second result. Values that no later phase reads, that nothing produces (inputs,
// states) or whose producer cannot run again are left as they are.
RematPlan RecomputeByName(const Graph& graph, const std::vector<std::string>& names);

}  // namespace cgrun

#endif  // CGRUN_PLAN_RECOMPUTE_H_
