// Computes conv with max_pool behind it, and maybe an activation between the two. Each thread pools
// the planes of an image while they are in its cache, so that the convolution's result is never
// there as a whole.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/conv_max_pool.cc"
#include <hwy/foreach_target.h>
//
#include "src/ir/op_def.h"
#include "src/kernels/cpu/conv_tiles.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/max_pool_planes.h"
#include "src/kernels/cpu/tiled_conv.h"
#include "src/kernels/fused_conv.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Parameters {
  ConvTiles conv;
  MaxPool pool;

  // The workspace: packed weights, then for each thread the convolution's memory, its result for
  // one group of one image, and a plane with the padding of the pool.
  int64_t result() const { return RoundToLines(conv.geometry.group_output()); }
  int64_t of_thread() const {
    return conv.of_thread() + result() + RoundToLines(pool.plane.elements());
  }
  int64_t workspace() const { return conv.packed() + conv.threads * of_thread(); }

  static Parameters SizesOf(const NodeSignature& node, int threads) {
    Parameters p{ConvTiles::SizesOf(node, threads), {}};
    p.pool.plane = PaddedPlaneOf(MaxPool::WindowOfNode(SignaturesInBody(node).back()));
    return p;
  }
};

template <int kStride, class Index>
void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const ConvGeometry& g = p.conv.geometry;
  const int output = p.conv.bias ? 3 : 2;
  float* y = Data<float>(context, i, output);
  Index* index = Data<Index>(context, i, output + 1);
  float* workspace = Data<float>(context, i, output + 2);
  PackConvWeights(p.conv, Data<const float>(context, i, 1), workspace);
  const ConvOperands operands{Data<const float>(context, i, 0),
                              p.conv.bias ? Data<const float>(context, i, 2) : nullptr, workspace};
  const int64_t tiles = p.conv.pixels.count();
  SplitParts(p.conv.threads, g.images * g.groups, 1, [&](int part, int64_t begin, int64_t end) {
    float* memory = workspace + p.conv.packed() + part * p.of_thread();
    float *planes = memory + p.conv.of_thread(), *padded = planes + p.result();
    std::fill_n(padded, p.pool.plane.elements(), MaxPool::kLeast);
    for (int64_t map = begin; map < end; ++map) {
      RunTiles(p.conv, operands, map * tiles, (map + 1) * tiles, memory,
               [&](int64_t) { return planes; });
      for (int64_t f = 0; f < g.filters; ++f) {
        const int64_t at = (map * g.filters + f) * p.pool.outputs();
        PoolPlane<kStride>(p.pool, planes + f * g.output_plane(), padded, y + at, index + at);
      }
    }
  });
}

PreparedKernel Prepare(const KernelRequest& request) {
  Parameters p{ConvTiles::Of(request.node, request.threads),
               MaxPool::Of(SignaturesInBody(request.node).back())};
  const KernelFunction run = ForPool(p.pool.plane.x.stride, p.pool.bytes,
                                     []<int kStride, class Index> { return &Run<kStride, Index>; });
  return PreparedKernel::Of(run, std::move(p));
}

bool Supports(const NodeSignature& node) {
  if (!BeginsWithConv(node) || node.body.back().op != OpId::max_pool) return false;
  const OpId second = node.body[1].op;
  const bool activated = second == OpId::relu || second == OpId::leaky_relu;
  const bool f32 = std::all_of(node.inputs.begin(), node.inputs.end(),
                               [](const TensorType& type) { return type.dtype == DType::kF32; });
  return node.body.size() == (activated ? 3 : 2) && f32 && NoneIsEmpty(node);
}

KernelDef tiled_conv_max_pool() {
  KernelDef def =
      DefineTiled<&Parameters::SizesOf, &TiledConvMaxPoolSeconds>("cpu.conv_max_pool", Prepare);
  def.supports = Supports;
  return def;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(tiled_conv_max_pool)

}  // namespace cgrun::cpu
#endif
