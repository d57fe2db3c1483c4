// Shapes of reductions.
#include "src/kernels/cpu/reduction.h"

#include <algorithm>

#include "src/base/check.h"
#include "src/ops/infer.h"
#include "src/ops/reduce.h"

namespace cgrun::cpu {
namespace {

constexpr int64_t kPieceElements = 32 << 10;  // of a piece, at least
constexpr int64_t kMostTasks = 64;            // that pieces are made for

// Pieces that give several threads work although there are few results.
int64_t PiecesOf(const Reduction& reduction) {
  const int64_t tasks = reduction.Tasks();
  const int64_t elements = reduction.results * reduction.count;
  const int64_t wanted = std::min(kMostTasks, elements / kPieceElements) / tasks;
  return std::clamp<int64_t>(wanted, 1, reduction.count);
}

}  // namespace

RowTiles RowTilesOf(const Reduction& reduction, int64_t most) {
  if (reduction.pieces > 1 || reduction.count > most) return {0, most};
  const int64_t share = (reduction.results + reduction.threads - 1) / reduction.threads;
  const int64_t rows = std::min(most / reduction.count, share);
  return {rows, rows * reduction.count};
}

std::vector<int64_t> TileCounts(const Reduction& reduction, const RowTiles& tiles) {
  std::vector<int64_t> counts = {tiles.elements};
  const auto add = [&](int64_t count) {
    if (count > 0 && std::ranges::find(counts, count) == counts.end()) counts.push_back(count);
  };
  if (tiles.rows > 0) add(reduction.results % tiles.rows * reduction.count);
  for (int64_t task = 0; tiles.rows == 0 && task < reduction.pieces; ++task) {
    const int64_t count = reduction.TaskBegin(task + 1) - reduction.TaskBegin(task);
    add(count % tiles.elements);
  }
  return counts;
}

Reduction ReductionOver(const Shape& x, const std::vector<int>& axes) {
  const std::vector<int64_t> strides = RowMajorStrides(x);
  std::vector<int64_t> kept = x.Sizes(), reduced(kept.size(), 1);
  for (int axis : axes)
    std::swap(kept[static_cast<size_t>(axis)], reduced[static_cast<size_t>(axis)]);
  Reduction reduction;
  reduction.kept = MakeSpace<1>(kept, {strides});
  reduction.reduced = MakeSpace<1>(reduced, {strides});
  reduction.results = reduction.kept.outer_count * reduction.kept.inner.size;
  reduction.count = reduction.reduced.outer_count * reduction.reduced.inner.size;
  reduction.rows = reduction.kept.inner.strides[0] != 1;
  reduction.pieces = PiecesOf(reduction);
  return reduction;
}

Reduction ReductionOf(const NodeSignature& node) {
  const Shape& x = node.inputs[0].shape;
  const auto axes = NormalizeAxes(node.attributes.As<ReduceAttributes>().axes, x.rank());
  CGRUN_CHECK(axes.has_value());
  return ReductionOver(x, *axes);
}

}  // namespace cgrun::cpu
