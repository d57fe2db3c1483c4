// Computes conv of f32 for few filters, alone or with an activation behind it. A tile of sums goes
// down all taps and reads what they see where it lies in the image, so that no patches are packed:
// few filters would read them too seldom.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/direct_conv.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/conv_tiles.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/tiled_conv.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kMostFilters = 32;

// Pixels side by side in a row are a tile. The last tile of a row may read beyond it.
struct DirectConv {
  ConvTiles conv;
  bool copies = false;  // the image, into planes that have the padding and a tile behind them

  static DirectConv Of(const NodeSignature& node, int threads) {
    DirectConv p;
    ConvGeometry& g = p.conv.geometry = ConvGeometryOf(node);
    const int64_t row = g.window.x.output, vectors = TileVectors(g.filters, row);
    p.conv.pixels.width = vectors * kTileLanes;
    p.copies = g.padded || row % p.conv.pixels.width != 0;
    g.padded = p.copies;
    p.conv.taps = g.TapOffsets();
    p.conv.filters = RowTilesOf(g.filters, vectors);
    p.conv.bias = node.inputs.size() == 3;
    p.conv.activation = Activation::In(node);
    p.conv.threads = ConvThreads(g, threads);
    return p;
  }

  // The workspace: packed weights, then the planes of each thread.
  int64_t of_thread() const {
    return copies ? RoundToLines(conv.geometry.padded_elements() + conv.pixels.width) : 0;
  }
  int64_t workspace() const { return conv.packed() + conv.threads * of_thread(); }
};

// A row of outputs in all filters of a group: `seen` is what its first pixel sees at tap 0.
void RunRow(const DirectConv& direct, const float* seen, const float* packed, const float* bias,
            float* y) {
  const ConvTiles& p = direct.conv;
  const ConvGeometry& g = p.geometry;
  HWY_ALIGN float results[kMostResults];
  TileProduct<PackedRows, OffsetColumns> product{{}, {seen, p.taps.data()}, g.taps(), results};
  for (int64_t x = 0; x < g.window.x.output; x += p.pixels.width) {
    const int64_t columns = std::min(p.pixels.width, g.window.x.output - x);
    product.columns.image = seen + x;
    for (int64_t t = 0; t < p.filters.tiles; ++t) {
      const int64_t filter = p.filters.First(t), rows = p.filters.Rows(t);
      product.a.panel = packed + filter * g.taps();
      TileTable<PackedRows, OffsetColumns>::Run(product, rows, DivideUp(columns, kTileLanes));
      FinishTile(p, results, bias, filter, rows, columns, y + filter * g.output_plane() + x);
    }
  }
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const DirectConv*>(i.parameters);
  const ConvGeometry& g = p.conv.geometry;
  const int output = p.conv.bias ? 3 : 2;
  const float* x = Data<const float>(context, i, 0);
  const float* bias = p.conv.bias ? Data<const float>(context, i, 2) : nullptr;
  float *y = Data<float>(context, i, output), *packed = Data<float>(context, i, output + 1);
  PackConvWeights(p.conv, Data<const float>(context, i, 1), packed);
  const int64_t height = g.window.y.output, maps = g.images * g.groups;
  SplitParts(p.conv.threads, maps * height, 1, [&](int part, int64_t begin, int64_t end) {
    float* planes = packed + p.conv.packed() + part * p.of_thread();
    std::fill_n(planes, p.of_thread(), 0.0F);
    for (int64_t row = begin; row < end; ++row) {
      const int64_t map = row / height, at = row % height, group = map % g.groups;
      const float* image = x + map * g.group_input();
      if (p.copies && (row == begin || at == 0)) CopyIntoPadded(g, image, planes);
      RunRow(p, (p.copies ? planes : image) + at * g.window.y.stride * g.columns,
             packed + group * g.group_weight(), p.conv.bias ? bias + group * g.filters : nullptr,
             y + map * g.group_output() + at * g.window.x.output);
    }
  });
}

bool Supports(const NodeSignature& node) {
  if (!IsForTiles(node)) return false;
  const ConvGeometry g = ConvGeometryOf(node);
  return g.window.x.stride == 1 && g.filters <= kMostFilters;
}

bool SupportsActivated(const NodeSignature& node) {
  return IsActivated(node, OpId::conv) && Supports(node);
}

KernelDef direct_conv() {
  return {.name = "cpu.direct_conv",
          .supports = Supports,
          .workspace_bytes =
              [](const NodeSignature& node, int threads) {
                return DirectConv::Of(node, threads).workspace() *
                       static_cast<int64_t>(sizeof(float));
              },
          .prepare =
              [](const KernelRequest& request) {
                return PreparedKernel::Of(&Run, DirectConv::Of(request.node, request.threads));
              },
          .seconds = [](const NodeSignature& node,
                        int threads) { return DirectConvSeconds(node, kTileLanes, threads); }};
}
KernelDef activated_direct_conv() {
  KernelDef def = direct_conv();
  def.name = "cpu.fused_direct_conv";
  def.supports = SupportsActivated;
  return def;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(direct_conv)
CGRUN_CPU_KERNEL(activated_direct_conv)

}  // namespace cgrun::cpu
#endif
