// Runs a chain as an inner program of its operators' own kernels, prepared for a tile. Some KiB of
// each operand go through all of these kernels before the next tile does. Results between two
// operators lie in the workspace of a thread. It is small enough for the first-level cache, so that
// they never get to memory. The bits are those of the kernels one by one.
#ifndef CGRUN_KERNELS_CPU_CHAIN_TILES_H_
#define CGRUN_KERNELS_CPU_CHAIN_TILES_H_

#include <array>
#include <vector>

#include "src/kernels/kernel.h"

namespace cgrun::cpu {

inline constexpr int64_t kMostTileElements = 2048;  // 8 KiB of f32

// Operators of a fused node that go element by element, from its first one on.
struct ChainTiles {
  static constexpr size_t kMostOperands = 4;  // of an operator: where and its like have them

  // Says where an operand of an inner operator lies. `source` ≥ 0 is an operand of the node; else
  // slot −1 − source of the thread's workspace. `element_bytes` is the step from one element to the
  // next, or 0 for one element that all share.
  struct Place {
    int source = 0;
    int64_t element_bytes = 0;
  };

  struct Step {
    std::vector<PreparedKernel> of_count;  // for a tile of counts[k] elements
    std::array<Place, kMostOperands> places;
    int operand_count = 0;
  };

  // Takes elements [begin, begin + count) through all steps: `count` is one of `counts`.
  void Run(const RunContext& context, const Instruction& i, int part, int64_t begin,
           int64_t count) const noexcept;
  // Returns where the result of the last step lies for a thread, if it is not the node's result.
  int64_t ResultOffset(int part) const;

  std::vector<Step> steps;
  std::vector<int64_t> counts;
  int64_t slot_bytes = 0;
  int64_t thread_bytes = 0;  // of the workspace, which begins with that of each thread
  int workspace = 0;         // the operand
};

// Returns whether the first `operators` of a node go element by element through tensors of `shape`
// and single elements, and mean the same where the tensors are vectors: none minds its axes.
bool IsChain(const NodeSignature& node, size_t operators, const Shape& shape);

// Returns the bytes of one thread's slots, for tiles of up to `tile` elements.
int64_t ChainThreadBytes(const NodeSignature& node, int64_t tile);

// Makes tiles that run the first `operators` of a node. `counts` holds the elements of the tiles,
// the largest first.
ChainTiles MakeChainTiles(const NodeSignature& node, size_t operators, const Shape& shape,
                          std::vector<int64_t> counts);

// An estimate of a chain's time.
double ChainSeconds(const NodeSignature& node, int threads);

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_CHAIN_TILES_H_
