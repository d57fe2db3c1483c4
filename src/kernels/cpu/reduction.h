// Describes a reduction: which elements make which result, and in how many pieces.
#ifndef CGRUN_KERNELS_CPU_REDUCTION_H_
#define CGRUN_KERNELS_CPU_REDUCTION_H_

#include <utility>
#include <vector>

#include "src/kernels/cpu/parallel.h"

namespace cgrun::cpu {

struct Reduction {
  static constexpr int64_t kTile = 64;  // results side by side that are one task

  StridedSpace<1> kept;     // offsets of each result's first element, in the results' order
  StridedSpace<1> reduced;  // offsets of a result's elements from its first
  int64_t results = 1;
  int64_t count = 1;   // of elements of a result
  bool rows = true;    // a result's elements are contiguous; else results lie side by side
  int64_t pieces = 1;  // of a result
  int threads = 1;

  // The elements [begin, end) of a result that are in a piece of it.
  std::pair<int64_t, int64_t> Piece(int64_t piece) const {
    return {count * piece / pieces, count * (piece + 1) / pieces};
  }
  int64_t Offset(int64_t result) const {
    const int64_t row = result / kept.inner.size, place = result % kept.inner.size;
    return RowOffsets(kept, {0}, row)[0] + place * kept.inner.strides[0];
  }
  // Returns whether they are rows that lie one after another, as over trailing axes.
  bool HasRowsInStep() const {
    const bool in_step = results == 1 || (kept.outer.empty() && kept.inner.strides[0] == count);
    return rows && in_step && reduced.outer.empty();
  }
  // Returns the first element of a task, which is the end of the task before it.
  int64_t TaskBegin(int64_t task) const {
    return task / pieces * count + count * (task % pieces) / pieces;
  }
  int64_t Tiles() const { return (kept.inner.size + kTile - 1) / kTile; }  // of a row of results
  int64_t Tasks() const { return pieces * (rows ? results : kept.outer_count * Tiles()); }
  int64_t WorkspaceBytes() const {
    return pieces > 1 ? pieces * results * static_cast<int64_t>(sizeof(double)) : 0;
  }
};

// Joins pieces[piece][result] of a result in the order of the pieces.
template <class State>
double JoinPieces(const Reduction& p, const double* pieces, int64_t result) {
  double total = pieces[result];
  for (int64_t s = 1; s < p.pieces; ++s) {
    total = State::Join(total, pieces[s * p.results + result]);
  }
  return total;
}

// Says how a reduction of rows in step goes through elements that are made a tile at a time.
struct RowTiles {
  int64_t rows = 0;      // of a tile; 0: a tile is a part of a piece
  int64_t elements = 1;  // of a tile, at most
};

// Tiles of up to `most` elements, which is a multiple of 64.
RowTiles RowTilesOf(const Reduction& reduction, int64_t most);
// The elements that they have, the most first.
std::vector<int64_t> TileCounts(const Reduction& reduction, const RowTiles& tiles);

// Makes elements [begin, begin + count), and says where they are until the next call for `part`.
struct TileMaker {
  const void* state;
  const void* (*make)(const void* state, int part, int64_t begin, int64_t count);
};

// A reduction of elements that are made tile by tile, to the bits of the operator by itself.
using TileReducer = void (*)(const Reduction& reduction, const RowTiles& tiles,
                             const TileMaker& maker, void* y, double* pieces);

// Returns null where there is none.
TileReducer TileReducerOf(OpId op, DType dtype);

// Returns the reduction of a plain tensor over some axes, which must be sorted.
Reduction ReductionOver(const Shape& x, const std::vector<int>& axes);

// Returns the reduction of a node with ReduceAttributes.
Reduction ReductionOf(const NodeSignature& node);

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_REDUCTION_H_
