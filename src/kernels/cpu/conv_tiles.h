// Computes convolutions by tiles. For each tile of pixels of an image, it multiplies the filters by
// the patches that the pixels see, and adds bias and activation. Each target of Highway includes
// this file once.
#if defined(CGRUN_KERNELS_CPU_CONV_TILES_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_CONV_TILES_H_
#undef CGRUN_KERNELS_CPU_CONV_TILES_H_
#else
#define CGRUN_KERNELS_CPU_CONV_TILES_H_
#endif

#include <algorithm>
#include <vector>

#include "src/kernels/cpu/activated.h"
#include "src/kernels/cpu/conv_panels.h"
#include "src/kernels/cpu/conv_seconds.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/transpose_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

struct ConvTiles {
  ConvGeometry geometry;
  std::vector<int64_t> taps;
  PixelTiles pixels;
  RowTiles filters;
  // Says whether weights are packed before they are multiplied. If few tiles of pixels read them,
  // packing takes longer than it saves.
  bool packs = true;
  bool bias = false;
  Activation activation;
  int threads = 1;

  // Returns the sizes of conv, or of a fused node that begins with one. It leaves out the tables of
  // taps and of pixels, which are as large as an image.
  static ConvTiles SizesOf(const NodeSignature& node, int threads) {
    ConvTiles p;
    p.geometry = ConvGeometryOf(node);
    const int64_t vectors = TileVectors(p.geometry.filters, p.geometry.output_plane());
    p.pixels.width = vectors * kTileLanes;
    p.filters = RowTilesOf(p.geometry.filters, vectors);
    p.bias = node.inputs.size() == 3;
    p.threads = ConvThreads(p.geometry, threads);
    return p;
  }

  static ConvTiles Of(const NodeSignature& node, int threads) {
    ConvTiles p = SizesOf(node, threads);
    p.taps = p.geometry.TapOffsets();
    p.pixels = PixelTilesOf(p.geometry, p.pixels.width, kTileLanes);
    p.activation = Activation::In(node);
    return p;
  }

  // The workspace: packed weights, then for each thread a panel and the padded planes.
  int64_t packed() const {
    return packs ? RoundToLines(geometry.groups * geometry.group_weight()) : 0;
  }
  int64_t panel() const { return RoundToLines(geometry.taps() * pixels.width + kTileLanes); }
  int64_t of_thread() const { return panel() + RoundToLines(geometry.padded_elements()); }
  int64_t workspace() const { return packed() + threads * of_thread(); }
};

struct ConvOperands {
  const float* x;
  const float* bias;
  const float* weights;  // packed, or as they are
};

// Packs the weights of each tile of filters, tap after tap.
inline void PackConvWeights(const ConvTiles& p, const float* weight, float* packed) {
  const ConvGeometry& g = p.geometry;
  Split(p.threads, g.groups * p.filters.tiles, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t tile = i % p.filters.tiles, rows = p.filters.Rows(tile);
      const int64_t at = i / p.filters.tiles * g.group_weight() + p.filters.First(tile) * g.taps();
      TransposeBand(Bits(weight + at), g.taps(), Bits(packed + at), rows, rows, g.taps());
    }
  });
}

// y ← a tile of results, of filters from `first` on, with bias and activation; a row is a plane.
inline void FinishTile(const ConvTiles& p, const float* results, const float* bias, int64_t first,
                       int64_t rows, int64_t columns, float* y) {
  const F32 d;
  for (int64_t r = 0; r < rows; ++r, y += p.geometry.output_plane()) {
    const VF32 shift = hn::Set(d, p.bias ? bias[first + r] : 0.0F);
    for (int64_t j = 0; j < columns; j += kTileLanes, results += kTileLanes) {
      const VF32 sum = hn::Add(hn::LoadU(d, results), shift);
      StoreSome(d, Activated(p.activation, sum), y + j, std::min(kTileLanes, columns - j));
    }
  }
}

// The rows of a tile of filters, which begin at `weights`.
inline PackedRows RowsAt(const float* weights, int64_t, PackedRows*) { return {weights}; }
inline StridedRows RowsAt(const float* weights, int64_t taps, StridedRows*) {
  return {weights, taps};
}

// A tile of pixels of one group of one image, which are number `map` of all, in all its filters,
// whose planes begin at y. Rows says how the weights lie.
template <class Rows>
void RunPixels(const ConvTiles& p, const ConvOperands& operands, int64_t map, int64_t tile,
               const float* image, float* panel, float* y) {
  const ConvGeometry& g = p.geometry;
  const int64_t group = map % g.groups, pixel = tile * p.pixels.width;
  const int64_t columns = std::min(p.pixels.width, g.output_plane() - pixel);
  const float* bias = p.bias ? operands.bias + group * g.filters : nullptr;
  PackPatches(p.pixels, tile, p.taps, g.window.x.stride, image, panel);
  HWY_ALIGN float results[kMostResults];
  TileProduct<Rows> product{{}, {panel, p.pixels.width}, g.taps(), results};
  const float* weights = operands.weights + group * g.group_weight();
  for (int64_t t = 0; t < p.filters.tiles; ++t) {
    const int64_t filter = p.filters.First(t), rows = p.filters.Rows(t);
    product.a = RowsAt(weights + filter * g.taps(), g.taps(), static_cast<Rows*>(nullptr));
    TileTable<Rows>::Run(product, rows, DivideUp(columns, kTileLanes));
    FinishTile(p, results, bias, filter, rows, columns, y + filter * g.output_plane() + pixel);
  }
}

// Runs tiles of pixels [begin, end) of all groups of all images, in memory that is a thread's.
// y_of(map) is where the planes of group `map` of all go.
template <class Rows = PackedRows, class YOf>
void RunTiles(const ConvTiles& p, const ConvOperands& operands, int64_t begin, int64_t end,
              float* memory, const YOf& y_of) {
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
    RunPixels<Rows>(p, operands, map, tile, g.padded ? planes : image, memory, y_of(map));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_CONV_TILES_H_
