// Computes conv_input_grad of f32, and conv_transpose, which is the same with a bias. For each tile
// of pixels of dy, what each tap gives back is added to the image where the tap saw it. The taps of
// one place of the kernel follow one another, channel by channel, so that the next addition to an
// element does not follow at once. Fused with max_pool_grad, each thread makes the pixels of an
// image as it comes to it.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/tiled_conv_input_grad.cc"
#include <hwy/foreach_target.h>
//
#include "src/ir/op_def.h"
#include "src/kernels/cpu/conv_panels.h"
#include "src/kernels/cpu/conv_seconds.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/max_pool_planes.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/tiled_conv.h"
#include "src/kernels/fused_conv.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

using Tiles = TileTable<PackedRows>;

struct Parameters {
  ConvGeometry geometry;
  std::vector<int64_t> order;    // the weights' index of each tap, in our order
  std::vector<int64_t> offsets;  // of each tap, in our order
  PixelTiles pixels;
  RowTiles taps;
  bool bias = false;
  int threads = 1;
  bool unpools = false;
  MaxUnpool unpool;

  // The workspace: packed weights, then for each thread a panel, padded planes and what is unpooled
  // of dy, one group of an image.
  int64_t packed() const { return RoundToLines(geometry.groups * geometry.group_weight()); }
  int64_t panel() const { return RoundToLines(geometry.filters * pixels.width + kTileLanes); }
  int64_t planes() const { return RoundToLines(geometry.padded_elements()); }
  int64_t unpooled() const { return unpools ? RoundToLines(geometry.group_output()) : 0; }
  int64_t of_thread() const { return panel() + planes() + unpooled(); }
  int64_t workspace() const { return packed() + threads * of_thread(); }
};

// Packs the weights of each tile of taps, filter after filter.
void PackWeights(const Parameters& p, const float* weight, float* packed) {
  const ConvGeometry& g = p.geometry;
  Split(p.threads, g.groups * p.taps.tiles, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / p.taps.tiles, tile = i % p.taps.tiles;
      const int64_t first = p.taps.First(tile), rows = p.taps.Rows(tile);
      const int64_t* order = p.order.data() + first;
      const float* from = weight + group * g.group_weight();
      float* to = packed + group * g.group_weight() + first * g.filters;
      for (int64_t f = 0; f < g.filters; ++f, from += g.taps(), to += rows) {
        for (int64_t r = 0; r < rows; ++r) to[r] = from[order[r]];
      }
    }
  });
}

// Packs a panel of the pixels of dy in a tile, filter by filter.
void PackPixels(const Parameters& p, const float* dy, int64_t columns, float* panel) {
  for (int64_t f = 0; f < p.geometry.filters; ++f, panel += p.pixels.width) {
    for (int64_t j = 0; j < columns; j += kTileLanes) {
      const int64_t count = std::min(kTileLanes, columns - j);
      CopyRun(dy + f * p.geometry.output_plane() + j, 1, count, panel + j);
    }
  }
}

// One tile of pixels, in all taps.
void RunPixels(const Parameters& p, const float* packed, const float* dy, int64_t tile,
               float* panel, float* image) {
  const ConvGeometry& g = p.geometry;
  const int64_t pixel = tile * p.pixels.width;
  const int64_t columns = std::min(p.pixels.width, g.output_plane() - pixel);
  const int64_t vectors = DivideUp(columns, kTileLanes);
  PackPixels(p, dy + pixel, columns, panel);
  HWY_ALIGN float results[kMostResults];
  TileProduct<PackedRows> product{{}, panel, p.pixels.width, g.filters, results};
  for (int64_t t = 0; t < p.taps.tiles; ++t) {
    const int64_t tap = p.taps.First(t), rows = p.taps.Rows(t);
    product.a.panel = packed + tap * g.filters;
    Tiles::Run(product, rows, vectors);
    ScatterPatches(p.pixels, tile, p.offsets.data() + tap, rows, g.window.x.stride, results,
                   vectors * kTileLanes, image);
  }
}

// One group of one image.
void RunImage(const Parameters& p, const float* packed, const float* dy, float* memory, float* dx) {
  const ConvGeometry& g = p.geometry;
  float* image = g.padded ? memory + p.panel() : dx;
  std::fill_n(image, g.padded ? g.padded_elements() : g.group_input(), 0.0F);
  for (int64_t tile = 0; tile < p.pixels.count(); ++tile) {
    RunPixels(p, packed, dy, tile, memory, image);
  }
  if (g.padded) CopyFromPadded(g, image, dx);
}

// Adds its bias to each channel of one group of one image.
void AddBias(const ConvGeometry& g, const float* bias, float* image) {
  const F32 d;
  for (int64_t c = 0; c < g.channels; ++c, image += g.input_plane()) {
    const VF32 shift = hn::Set(d, bias[c]);
    for (int64_t e = 0; e < g.input_plane(); e += kTileLanes) {
      const int64_t lanes = std::min(kTileLanes, g.input_plane() - e);
      StoreSome(d, hn::Add(LoadSome(d, image + e, lanes), shift), image + e, lanes);
    }
  }
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const ConvGeometry& g = p.geometry;
  const int output = p.bias ? 3 : 2;
  const float* dy = Data<const float>(context, i, 0);
  const float* bias = p.bias ? Data<const float>(context, i, 2) : nullptr;
  float* dx = Data<float>(context, i, output);
  float* workspace = Data<float>(context, i, output + 1);
  PackWeights(p, Data<const float>(context, i, 1), workspace);
  SplitParts(p.threads, g.images * g.groups, 1, [&](int part, int64_t begin, int64_t end) {
    float* memory = workspace + p.packed() + part * p.of_thread();
    for (int64_t map = begin; map < end; ++map) {
      const int64_t group = map % g.groups;
      float* image = dx + map * g.group_input();
      RunImage(p, workspace + group * g.group_weight(), dy + map * g.group_output(), memory, image);
      if (bias != nullptr) AddBias(g, bias + group * g.channels, image);
    }
  });
}

void RunUnpooled(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const ConvGeometry& g = p.geometry;
  const auto* index = Data<const std::byte>(context, i, 0);
  const float* dy = Data<const float>(context, i, 1);
  float* dx = Data<float>(context, i, 3);
  float* workspace = Data<float>(context, i, 4);
  PackWeights(p, Data<const float>(context, i, 2), workspace);
  SplitParts(p.threads, g.images * g.groups, 1, [&](int part, int64_t begin, int64_t end) {
    float* memory = workspace + p.packed() + part * p.of_thread();
    float* unpooled = memory + p.panel() + p.planes();
    for (int64_t map = begin; map < end; ++map) {
      for (int64_t f = 0; f < g.filters; ++f) {
        p.unpool.run(p.unpool, index, dy, map * g.filters + f, unpooled + f * g.output_plane());
      }
      RunImage(p, workspace + map % g.groups * g.group_weight(), unpooled, memory,
               dx + map * g.group_input());
    }
  });
}

// All but the tables of taps and of pixels, whose size is that of an image.
Parameters SizesOf(const NodeSignature& node, int threads) {
  Parameters p;
  p.unpools = node.op == OpId::fused;
  p.geometry = ConvGeometryOf(node);
  const int64_t vectors = TileVectors(p.geometry.taps(), p.geometry.output_plane());
  p.pixels.width = vectors * kTileLanes;
  p.taps = RowTilesOf(p.geometry.taps(), vectors);
  p.bias = node.op == OpId::conv_transpose && node.inputs.size() == 3;
  p.threads = ConvThreads(p.geometry, threads);
  return p;
}

PreparedKernel Prepare(const KernelRequest& request) {
  Parameters p = SizesOf(request.node, request.threads);
  const std::vector<int64_t> taps = p.geometry.TapOffsets();
  const int64_t places = p.geometry.taps() / p.geometry.channels;
  for (int64_t place = 0; place < places; ++place) {
    for (int64_t c = 0; c < p.geometry.channels; ++c) p.order.push_back(c * places + place);
  }
  for (const int64_t tap : p.order) p.offsets.push_back(taps[static_cast<size_t>(tap)]);
  p.pixels = PixelTilesOf(p.geometry, p.pixels.width, kTileLanes);
  if (!p.unpools) return PreparedKernel::Of(&Run, std::move(p));
  p.unpool = MaxUnpool::Of(SignaturesInBody(request.node)[0]);
  return PreparedKernel::Of(&RunUnpooled, std::move(p));
}

KernelDef tiled_conv_input_grad() {
  return DefineTiled<&SizesOf, &TiledInputGradSeconds>("cpu.conv_input_grad", Prepare);
}

KernelDef tiled_unpooled_input_grad() {
  KernelDef def = DefineTiled<&SizesOf, &UnpooledInputGradSeconds>(
      "cpu.max_pool_grad_conv_input_grad", Prepare);
  def.supports = [](const NodeSignature& node) {
    return IsUnpooled(node, OpId::conv_input_grad, {-1, 2}) && UnpoolsF32(node);
  };
  return def;
}

KernelDef tiled_conv_transpose() {
  return DefineTiled<&SizesOf, &TiledInputGradSeconds>("cpu.conv_transpose", Prepare);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(tiled_conv_input_grad)
CGRUN_CPU_KERNEL(tiled_unpooled_input_grad)
CGRUN_CPU_KERNEL(tiled_conv_transpose)

}  // namespace cgrun::cpu
#endif
