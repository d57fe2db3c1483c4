// Runs chains that a reduction ends. The results of a tile are reduced while they lie in the
// first-level cache. The order of sums is that of the reduction by itself.
#include "src/kernels/cpu/reduced_chain.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/ir/op_def.h"
#include "src/kernels/cpu/chain_tiles.h"
#include "src/kernels/cpu/reduction.h"

namespace cgrun::cpu {
namespace {

struct Parameters {
  ChainTiles tiles;
  Reduction reduction;
  RowTiles rows;
  TileReducer reduce = nullptr;
  int64_t piece_offset = 0;  // in the workspace, behind the slots of the threads
};

// Returns all threads if one of the operators by itself would have them. The chain takes less time
// than its operators together, and little longer than that one.
int ThreadsOf(const NodeSignature& node, int threads) {
  const bool any = std::ranges::any_of(SignaturesInBody(node), [](const NodeSignature& inner) {
    return OperandBytes(inner) >= LeastParallelBytes(Work::kMoves);
  });
  return any ? threads : 1;
}

// Says how a node is computed.
struct Plan {
  Plan(const NodeSignature& node, int most_threads)
      : last(SignaturesInBody(node).back()), reduction(ReductionOf(last)) {
    reduction.threads = ThreadsOf(node, most_threads);
    rows = RowTilesOf(reduction, kMostTileElements);
    slot_bytes = ChainThreadBytes(node, rows.elements) * reduction.threads;
  }

  NodeSignature last;  // operator of the body
  Reduction reduction;
  RowTiles rows;
  int64_t slot_bytes = 0;
};

int64_t WorkspaceBytes(const NodeSignature& node, int threads) {
  const Plan plan(node, threads);
  return plan.slot_bytes + plan.reduction.WorkspaceBytes();
}

bool Supports(const NodeSignature& node) {
  const size_t size = node.body.size();
  if (size < 2 || node.outputs.size() != 1) return false;
  const NodeSignature last = SignaturesInBody(node).back();
  const bool reads_chain = node.body.back().operands == std::vector{1 - static_cast<int>(size)};
  if (!reads_chain || TileReducerOf(last.op, last.inputs[0].dtype) == nullptr) return false;
  return IsChain(node, size - 1, last.inputs[0].shape) && ReductionOf(last).HasRowsInStep();
}

// Makes a tile of a run.
struct Maker {
  static const void* Make(const void* state, int part, int64_t begin, int64_t count) {
    const auto& [tiles, context, i] = *static_cast<const Maker*>(state);
    tiles.Run(context, i, part, begin, count);
    return Data<const std::byte>(context, i, tiles.workspace) + tiles.ResultOffset(part);
  }

  const ChainTiles& tiles;
  const RunContext& context;
  const Instruction& i;
};

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const Maker maker{p.tiles, context, i};
  auto* pieces = Data<std::byte>(context, i, p.tiles.workspace) + p.piece_offset;
  p.reduce(p.reduction, p.rows, {&maker, &Maker::Make},
           Data<std::byte>(context, i, p.tiles.workspace - 1), reinterpret_cast<double*>(pieces));
}

PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  Plan plan(node, request.threads);
  const TensorType& x = plan.last.inputs[0];
  Parameters p;
  p.tiles =
      MakeChainTiles(node, node.body.size() - 1, x.shape, TileCounts(plan.reduction, plan.rows));
  p.rows = plan.rows;
  p.piece_offset = plan.slot_bytes;
  p.reduce = TileReducerOf(plan.last.op, x.dtype);
  p.reduction = std::move(plan.reduction);
  return PreparedKernel::Of(&Run, std::move(p));
}

}  // namespace

KernelDef reduced_chain() {
  return {.name = "cpu.reduced_chain",
          .supports = Supports,
          .workspace_bytes = WorkspaceBytes,
          .prepare = Prepare,
          .seconds = ChainSeconds};
}

}  // namespace cgrun::cpu
