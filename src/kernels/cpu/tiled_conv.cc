// conv, f32, and conv with an activation behind it: for each tile of pixels of an image, the
// filters times the patches that the pixels see.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/tiled_conv.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/conv_panels.h"
#include "src/kernels/cpu/conv_seconds.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/tiled_conv.h"
#include "src/kernels/cpu/transpose_tiles.h"
#include "src/kernels/fused_conv.h"
#include "src/ops/leaky_relu.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

using Tiles = TileTable<PackedRows>;

enum class Activation { kNone, kRelu, kLeakyRelu };

struct Parameters {
  ConvGeometry geometry;
  std::vector<int64_t> taps;
  PixelTiles pixels;
  RowTiles filters;
  bool bias = false;
  Activation activation = Activation::kNone;
  float slope = 0;
  int threads = 1;

  // The workspace: packed weights, then for each thread a panel and the padded planes.
  int64_t packed() const { return RoundToLines(geometry.groups * geometry.group_weight()); }
  int64_t panel() const { return RoundToLines(geometry.taps() * pixels.width + kTileLanes); }
  int64_t of_thread() const { return panel() + RoundToLines(geometry.padded_elements()); }
  int64_t workspace() const { return packed() + threads * of_thread(); }
};

struct Operands {
  const float* x;
  const float* bias;
  const float* packed;
  float* y;
};

// The weights of a tile of filters, tap after tap.
void PackWeights(const Parameters& p, const float* weight, float* packed) {
  const ConvGeometry& g = p.geometry;
  Split(p.threads, g.groups * p.filters.tiles, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t tile = i % p.filters.tiles, rows = p.filters.Rows(tile);
      const int64_t at = i / p.filters.tiles * g.group_weight() + p.filters.First(tile) * g.taps();
      TransposeBand(Bits(weight + at), g.taps(), Bits(packed + at), rows, rows, g.taps());
    }
  });
}

HWY_INLINE VF32 Activated(const Parameters& p, VF32 y) {
  const F32 d;
  if (p.activation == Activation::kNone) return y;
  const VF32 below =
      p.activation == Activation::kRelu ? hn::Zero(d) : hn::Mul(hn::Set(d, p.slope), y);
  return hn::IfThenElse(hn::Lt(y, hn::Zero(d)), below, y);  // a NaN is not less than 0
}

// y ← a tile of results, of filters from `first` on, with bias and activation; a row is a plane.
void Finish(const Parameters& p, const float* results, const float* bias, int64_t first,
            int64_t rows, int64_t columns, float* y) {
  const F32 d;
  for (int64_t r = 0; r < rows; ++r, y += p.geometry.output_plane()) {
    const VF32 shift = hn::Set(d, p.bias ? bias[first + r] : 0.0F);
    for (int64_t j = 0; j < columns; j += kTileLanes, results += kTileLanes) {
      const VF32 sum = hn::Add(hn::LoadU(d, results), shift);
      StoreSome(d, Activated(p, sum), y + j, std::min(kTileLanes, columns - j));
    }
  }
}

// A tile of pixels of one group of one image, which are number `map` of all, in all its filters.
void RunPixels(const Parameters& p, const Operands& operands, int64_t map, int64_t tile,
               const float* image, float* panel) {
  const ConvGeometry& g = p.geometry;
  const int64_t group = map % g.groups, pixel = tile * p.pixels.width;
  const int64_t columns = std::min(p.pixels.width, g.output_plane() - pixel);
  const float* bias = p.bias ? operands.bias + group * g.filters : nullptr;
  PackPatches(p.pixels, tile, p.taps, g.window.x.stride, image, panel);
  HWY_ALIGN float results[kMostResults];
  TileProduct<PackedRows> product{{}, panel, p.pixels.width, g.taps(), results};
  for (int64_t t = 0; t < p.filters.tiles; ++t) {
    const int64_t filter = p.filters.First(t), rows = p.filters.Rows(t);
    product.a.panel = operands.packed + group * g.group_weight() + filter * g.taps();
    Tiles::Run(product, rows, DivideUp(columns, kTileLanes));
    Finish(p, results, bias, filter, rows, columns,
           operands.y + map * g.group_output() + filter * g.output_plane() + pixel);
  }
}

// Tiles of pixels [begin, end) of all groups of all images.
void RunTiles(const Parameters& p, const Operands& operands, int64_t begin, int64_t end,
              float* memory) {
  const ConvGeometry& g = p.geometry;
  float* planes = memory + p.panel();
  std::fill_n(planes, g.padded_elements(), 0.0F);
  const float* image = nullptr;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t map = i / p.pixels.count(), tile = i % p.pixels.count();
    if (i == begin || tile == 0) {
      image = operands.x + map * g.group_input();
      if (g.padded) CopyIntoPadded(g, image, planes);
    }
    RunPixels(p, operands, map, tile, g.padded ? planes : image, memory);
  }
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const int output = p.bias ? 3 : 2;
  float* workspace = Data<float>(context, i, output + 1);
  PackWeights(p, Data<const float>(context, i, 1), workspace);
  const Operands operands{Data<const float>(context, i, 0),
                          p.bias ? Data<const float>(context, i, 2) : nullptr, workspace,
                          Data<float>(context, i, output)};
  const int64_t tiles = p.geometry.images * p.geometry.groups * p.pixels.count();
  SplitParts(p.threads, tiles, 1, [&](int part, int64_t begin, int64_t end) {
    RunTiles(p, operands, begin, end, workspace + p.packed() + part * p.of_thread());
  });
}

// All but the tables of taps and of pixels, whose size is that of an image.
Parameters SizesOf(const NodeSignature& node, int threads) {
  Parameters p;
  p.geometry = ConvGeometryOf(node);
  const int64_t vectors = TileVectors(p.geometry.filters, p.geometry.output_plane());
  p.pixels.width = vectors * kTileLanes;
  p.filters = RowTilesOf(p.geometry.filters, vectors);
  p.bias = node.inputs.size() == 3;
  p.threads = ConvThreads(p.geometry, threads);
  return p;
}

PreparedKernel Prepare(const KernelRequest& request) {
  Parameters p = SizesOf(request.node, request.threads);
  p.taps = p.geometry.TapOffsets();
  p.pixels = PixelTilesOf(p.geometry, p.pixels.width, kTileLanes);
  if (request.node.op == OpId::fused) {
    const FusedOperator& activation = request.node.body[1];
    p.activation = activation.op == OpId::relu ? Activation::kRelu : Activation::kLeakyRelu;
    if (p.activation == Activation::kLeakyRelu) {
      p.slope = static_cast<float>(activation.attributes.As<LeakyReluAttributes>().slope);
    }
  }
  return PreparedKernel::Of(&Run, std::move(p));
}

bool SupportsFused(const NodeSignature& node) {
  return IsFusedConv(node) && IsForTiles(node) &&
         (node.body[1].op == OpId::relu || node.body[1].op == OpId::leaky_relu);
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
