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

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const ConvTiles*>(i.parameters);
  const int output = p.bias ? 3 : 2;
  float* y = Data<float>(context, i, output);
  float* workspace = Data<float>(context, i, output + 1);
  PackConvWeights(p, Data<const float>(context, i, 1), workspace);
  const ConvOperands operands{Data<const float>(context, i, 0),
                              p.bias ? Data<const float>(context, i, 2) : nullptr, workspace};
  const int64_t tiles = p.geometry.images * p.geometry.groups * p.pixels.count();
  SplitParts(p.threads, tiles, 1, [&](int part, int64_t begin, int64_t end) {
    RunTiles(p, operands, begin, end, workspace + p.packed() + part * p.of_thread(),
             [&](int64_t map) { return y + map * p.geometry.group_output(); });
  });
}

PreparedKernel Prepare(const KernelRequest& request) {
  return PreparedKernel::Of(&Run, ConvTiles::Of(request.node, request.threads));
}

bool SupportsFused(const NodeSignature& node) {
  return IsActivated(node, OpId::conv) && IsForTiles(node);
}

KernelDef tiled_conv() {
  return DefineTiled<&ConvTiles::SizesOf, &TiledConvSeconds>("cpu.conv", Prepare);
}

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
