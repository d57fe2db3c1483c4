// Computes tile and expand by strided walks that repeat what they read.
#include "src/ops/tile.h"

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided_copy.h"

namespace cgrun::reference {
namespace {

// Each axis of x is two of the walk: its repetitions, and its elements.
CopyPlan PlanTile(const NodeSignature& node) {
  const IntList& repeats = node.attributes.As<TileAttributes>().repeats;
  const Shape& x = node.inputs[0].shape;
  const std::vector<int64_t> of_x = RowMajorStrides(x);
  std::vector<int64_t> sizes, from;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto at = static_cast<size_t>(axis);
    sizes.insert(sizes.end(), {repeats[at], x[axis].size});
    from.insert(from.end(), {0, of_x[at]});
  }
  return {MakeSpace<2>(sizes, {from, RowMajorStrides(Shape::Of(sizes))}), {0, 0}};
}

PreparedKernel PrepareTile(const KernelRequest& request) {
  return PrepareCopy(request.node.inputs[0].dtype, PlanTile(request.node));
}

PreparedKernel PrepareExpand(const KernelRequest& request) {
  return PrepareCopy(request.node.inputs[0].dtype, {BroadcastSpace<1>(request.node), {0, 0}});
}

}  // namespace

KernelDef tile() { return {.name = "reference.tile", .prepare = PrepareTile}; }
KernelDef expand() { return {.name = "reference.expand", .prepare = PrepareExpand}; }

}  // namespace cgrun::reference
