// Recomputation at the peak: a schedule keeps some values at its fullest step only because nodes
// behind that step read them. These can be let go, and recomputed right before their readers.
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
// The inputs of y must be there when it is recomputed: they are kept at the peak for other readers,
// or they are recomputed, too. With a swap file, y can also be written to it behind its last reader
// before the peak, and read back from there (swap.h).
#ifndef CGRUN_BUDGET_RECOMPUTE_OPTIONS_H_
#define CGRUN_BUDGET_RECOMPUTE_OPTIONS_H_

#include <optional>
#include <vector>

#include "src/base/transfer_speed.h"
#include "src/ir/remat_plan.h"
#include "src/ops/target.h"
#include "src/plan/buffer_assignment.h"
#include "src/plan/cost_model.h"

namespace cgrun {

// A buffer that need not be kept at the peak.
struct RecomputeOption {
  RecomputeDecision decision;        // empty where …
  std::optional<SwapDecision> swap;  // … this is what is done
  Bytes bytes = 0;                   // of the buffer
  double seconds = 0;                // of the recomputation, by SecondsOf(), or of the transfers
};

// Says how swaps are ranked.
struct SwapTerms {
  TransferSpeed speed;
  double share = 1;  // of a transfer's time that counts; computation beside it hides the rest
};

struct RecomputeLimits {
  double seconds = 0;   // of one option
  double emphasis = 1;  // of bytes: the options with most bytes^emphasis a recompute come first
  int threads = 1;
  BufferOptions buffers;
  bool recompute = true;               // whether anything is recomputed
  std::optional<SwapTerms> swap = {};  // nothing: no transfers
};

// The buffers that the first of the fullest steps of `schedule` need not keep, the best by `limits`
// first. No option needs what another one lets go: the first k of them can be taken together, for
// any k.
std::vector<RecomputeOption> RecomputeOptionsAtPeak(const Graph& graph, const Schedule& schedule,
                                                    const Target& target,
                                                    const RecomputeLimits& limits);

// The recomputation of a node. It gives the node's first output, or all outputs.
struct Recomputation {
  std::vector<ValueId> inputs;
  bool gives_all = false;  // the node itself runs, not what its operator has for its first output
  double seconds = 0;
  bool is_view = false;
  Bytes workspace = 0;
  std::vector<InPlacePair> in_place;
};

// The recomputation of a node that allows it (RecomputableNodes()). Returns nothing without a
// kernel.
std::optional<Recomputation> RecomputationOf(const Graph& graph, NodeId id, const Target& target,
                                             int threads);

// The order of `before` for a graph that has got recomputations or transfers. Each stands right
// before the first node that reads it. A node that writes to the swap file stands behind the node
// that makes the tensor, and its wait behind the last reader of `before`.
Schedule WithRecomputations(const Graph& graph, const Schedule& before);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_RECOMPUTE_OPTIONS_H_
