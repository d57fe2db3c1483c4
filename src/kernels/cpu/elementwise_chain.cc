// Chains whose result is a tensor like those that they go through.
#include "src/kernels/cpu/elementwise_chain.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/ir/op_def.h"
#include "src/kernels/cpu/chain_tiles.h"
#include "src/kernels/cpu/parallel.h"

namespace cgrun::cpu {
namespace {

struct Parameters {
  ChainTiles tiles;
  int64_t elements = 0;
  int64_t tile = 0;  // elements
  int threads = 1;
};

// Returns all threads if the operators by themselves would go through enough bytes for them.
int ThreadsOf(const NodeSignature& node, int threads) {
  int64_t bytes = 0;
  for (const NodeSignature& inner : SignaturesInBody(node)) bytes += OperandBytes(inner);
  return bytes < LeastParallelBytes(Work::kMoves) ? 1 : threads;
}

// No more than a thread has to do, in whole grains.
int64_t TileOf(const NodeSignature& node, int threads) {
  const int64_t share = (node.outputs[0].shape.Elements() + threads - 1) / threads;
  return std::min(kMostTileElements, (share + kGrain - 1) / kGrain * kGrain);
}

int64_t WorkspaceBytes(const NodeSignature& node, int most_threads) {
  const int threads = ThreadsOf(node, most_threads);
  return ChainThreadBytes(node, TileOf(node, threads)) * threads;
}

bool Supports(const NodeSignature& node) {
  return node.body.size() >= 2 && node.outputs.size() == 1 &&
         IsChain(node, node.body.size(), node.outputs[0].shape);
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  SplitParts(p.threads, p.elements, p.tile, [&](int part, int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += p.tile) {
      p.tiles.Run(context, i, part, at, std::min(p.tile, end - at));
    }
  });
}

PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const Shape& shape = node.outputs[0].shape;
  Parameters p;
  p.elements = shape.Elements();
  p.threads = ThreadsOf(node, request.threads);
  p.tile = TileOf(node, p.threads);
  std::vector<int64_t> counts = {p.tile};
  if (p.elements % p.tile > 0) counts.push_back(p.elements % p.tile);  // the last one is shorter
  p.tiles = MakeChainTiles(node, node.body.size(), shape, std::move(counts));
  return PreparedKernel::Of(&Run, std::move(p));
}

}  // namespace

KernelDef elementwise_chain() {
  return {.name = "cpu.elementwise_chain",
          .supports = Supports,
          .workspace_bytes = WorkspaceBytes,
          .prepare = Prepare,
          .elementwise = true,
          .seconds = ChainSeconds};
}

}  // namespace cgrun::cpu
