// Computes conv of f32 by tiles, alone or with an activation behind it.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/tiled_conv.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/conv_tiles.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/tiled_conv.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

// So many tiles of pixels do not pay for packed weights.
constexpr int64_t kFewTiles = 3;

template <class Rows>
void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const ConvTiles*>(i.parameters);
  const int output = p.bias ? 3 : 2;
  float* y = Data<float>(context, i, output);
  float* workspace = Data<float>(context, i, output + 1);
  const auto* weights = Data<const float>(context, i, 1);
  if (p.packs) PackConvWeights(p, weights, workspace);
  const ConvOperands operands{Data<const float>(context, i, 0),
                              p.bias ? Data<const float>(context, i, 2) : nullptr,
                              p.packs ? workspace : weights};
  const int64_t tiles = p.geometry.images * p.geometry.groups * p.pixels.count();
  SplitParts(p.threads, tiles, 1, [&](int part, int64_t begin, int64_t end) {
    RunTiles<Rows>(p, operands, begin, end, workspace + p.packed() + part * p.of_thread(),
                   [&](int64_t map) { return y + map * p.geometry.group_output(); });
  });
}

// Tiles of the weights as they are have fewer rows.
ConvTiles WithoutPacking(ConvTiles p) {
  const ConvGeometry& g = p.geometry;
  if (g.images * DivideUp(g.output_plane(), p.pixels.width) > kFewTiles) return p;
  p.packs = false;
  const int64_t rows = DivideUp(p.filters.rows, p.filters.tiles);
  if (rows > StridedRows::kMost) p.filters.tiles = DivideUp(p.filters.rows, StridedRows::kMost);
  return p;
}

ConvTiles SizesOf(const NodeSignature& node, int threads) {
  return WithoutPacking(ConvTiles::SizesOf(node, threads));
}

PreparedKernel Prepare(const KernelRequest& request) {
  ConvTiles p = WithoutPacking(ConvTiles::Of(request.node, request.threads));
  const KernelFunction run = p.packs ? &Run<PackedRows> : &Run<StridedRows>;
  return PreparedKernel::Of(run, std::move(p));
}

bool SupportsFused(const NodeSignature& node) {
  return IsActivated(node, OpId::conv) && IsForTiles(node);
}

KernelDef tiled_conv() { return DefineTiled<&SizesOf, &TiledConvSeconds>("cpu.conv", Prepare); }

KernelDef tiled_fused_conv() {
  KernelDef def = tiled_conv();
  def.name = "cpu.fused_conv";
  def.supports = SupportsFused;
  return def;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(tiled_conv)
CGRUN_CPU_KERNEL(tiled_fused_conv)

}  // namespace cgrun::cpu
#endif
