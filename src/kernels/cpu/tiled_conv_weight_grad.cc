// conv_weight_grad, f32: the taps as they lie in the images times the pixels of dy, filters side by
// side. Each part adds up its images, in their order; then the parts' sums are added in theirs.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/tiled_conv_weight_grad.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/conv_panels.h"
#include "src/kernels/cpu/conv_seconds.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/tiled_conv.h"
#include "src/kernels/cpu/transpose_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

using Tiles = TileTable<OffsetRows>;

constexpr int64_t kDepth = 512;  // pixels for which a tile of sums stays in registers

struct Parameters {
  ConvGeometry geometry;
  std::vector<int64_t> taps;
  std::vector<int64_t> pixels;  // of `batch` images, one after another
  int64_t batch = 1;            // images whose pixels are added up together
  int64_t depth = 0;            // pixels, at most, that are
  int64_t image_step = 0;       // elements between images that `pixels` sees
  int64_t lines = 0;            // filters of a group, with what fills up the last vector
  int64_t vectors = 0;          // of a tile
  RowTiles tiles;               // of taps
  int threads = 1;              // of the team, which is never smaller than the run's
  int64_t parts = 1;            // into which the images go: no more than threads or images

  // The workspace: for each part sums [groups, taps, lines], a panel and padded planes.
  int64_t group_sums() const { return geometry.taps() * lines; }
  int64_t sums() const { return RoundToLines(geometry.groups * group_sums()); }
  int64_t panel() const { return RoundToLines(depth * lines); }
  int64_t planes() const { return RoundToLines(batch * geometry.padded_elements()); }
  int64_t of_part() const { return sums() + panel() + planes(); }
  int64_t workspace() const { return parts * of_part(); }
};

// Images that are added up together, and pixels of theirs.
struct Chunk {
  int64_t image = 0, images = 0;
  int64_t first = 0, end = 0;  // pixels of all of `images`, or of the one
};

// panel[pixel][filter] ← dy of one group.
void PackPixels(const Parameters& p, const Chunk& chunk, int64_t group, const float* dy,
                float* panel) {
  const ConvGeometry& g = p.geometry;
  const int64_t count = std::min(chunk.end - chunk.first, g.output_plane());
  for (int64_t n = 0; n < chunk.images; ++n) {
    const int64_t map = (chunk.image + n) * g.groups + group;
    TransposeBand(Bits(dy + map * g.group_output() + chunk.first), g.output_plane(),
                  Bits(panel + n * count * p.lines), p.lines, g.filters, count);
  }
}

// A tile of sums ← results, or += them.
void AddResults(const Parameters& p, const float* results, int64_t rows, int64_t vectors, bool add,
                float* sums) {
  const F32 d;
  for (int64_t r = 0; r < rows; ++r, sums += p.lines) {
    for (int64_t j = 0; j < vectors * kTileLanes; j += kTileLanes, results += kTileLanes) {
      const VF32 old = add ? hn::LoadU(d, sums + j) : hn::Zero(d);
      hn::StoreU(hn::Add(old, hn::LoadU(d, results)), d, sums + j);
    }
  }
}

// sums[tap][filter] ← the chunk's, or += them.
void AddChunk(const Parameters& p, const Chunk& chunk, const float* image, const float* panel,
              bool add, float* sums) {
  HWY_ALIGN float results[kMostResults];
  TileProduct<OffsetRows> product{{}, panel, p.lines, chunk.end - chunk.first, results};
  for (int64_t t = 0; t < p.tiles.tiles; ++t) {
    const int64_t tap = p.tiles.First(t), rows = p.tiles.Rows(t);
    product.a = {image, p.taps.data() + tap, p.pixels.data() + chunk.first};
    for (int64_t line = 0; line < p.lines; line += p.vectors * kTileLanes) {
      const int64_t vectors = std::min(p.vectors, (p.lines - line) / kTileLanes);
      product.b = panel + line;
      Tiles::Run(product, rows, vectors);
      AddResults(p, results, rows, vectors, add, sums + tap * p.lines + line);
    }
  }
}

// One group of some images, up to `batch`.
void AddImages(const Parameters& p, const float* x, const float* dy, int64_t group, Chunk chunk,
               bool add, float* memory) {
  const ConvGeometry& g = p.geometry;
  float *panel = memory + p.sums(), *planes = panel + p.panel();
  const float* image = x + (chunk.image * g.groups + group) * g.group_input();
  if (g.padded) {
    for (int64_t n = 0; n < chunk.images; ++n) {
      CopyIntoPadded(g, image + n * g.groups * g.group_input(), planes + n * g.padded_elements());
    }
    image = planes;
  }
  const int64_t pixels = chunk.images * g.output_plane();
  for (int64_t first = 0; first < pixels; first = chunk.end) {
    chunk.first = first;
    chunk.end = std::min(first + p.depth, pixels);
    PackPixels(p, chunk, group, dy, panel);
    AddChunk(p, chunk, image, panel, add || first > 0, memory + group * p.group_sums());
  }
}

// The sums of images [begin, end).
void SumImages(const Parameters& p, const float* x, const float* dy, int64_t begin, int64_t end,
               float* memory) {
  std::fill_n(memory + p.sums(), p.panel() + p.planes(), 0.0F);
  for (int64_t image = begin; image < end; image += p.batch) {
    const Chunk chunk{image, std::min(p.batch, end - image), 0, 0};
    for (int64_t group = 0; group < p.geometry.groups; ++group) {
      AddImages(p, x, dy, group, chunk, image > begin, memory);
    }
  }
}

// Rows of taps [begin, end) of all groups: the other parts' sums are added to the first one's,
// which is transposed to dweight.
void JoinSums(const Parameters& p, int64_t begin, int64_t end, float* workspace, float* dweight) {
  const ConvGeometry& g = p.geometry;
  const F32 d;
  for (int64_t part = 1; part < p.parts; ++part) {
    const float* other = workspace + part * p.of_part();
    for (int64_t at = begin * p.lines; at < end * p.lines; at += kTileLanes) {
      hn::StoreU(hn::Add(hn::LoadU(d, workspace + at), hn::LoadU(d, other + at)), d,
                 workspace + at);
    }
  }
  while (begin < end) {
    const int64_t group = begin / g.taps(), tap = begin % g.taps();
    const int64_t count = std::min(end - begin, g.taps() - tap);
    TransposeBand(Bits(workspace + begin * p.lines), p.lines,
                  Bits(dweight + group * g.group_weight() + tap), g.taps(), count, g.filters);
    begin += count;
  }
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* x = Data<const float>(context, i, 0);
  const float* dy = Data<const float>(context, i, 1);
  float* dweight = Data<float>(context, i, 2);
  float* workspace = Data<float>(context, i, 3);
  const int64_t images = p.geometry.images;
  Split(p.threads, p.parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      SumImages(p, x, dy, images * part / p.parts, images * (part + 1) / p.parts,
                workspace + part * p.of_part());
    }
  });
  Split(p.threads, p.geometry.groups * p.geometry.taps(), kTransposeTile,
        [&](int64_t begin, int64_t end) { JoinSums(p, begin, end, workspace, dweight); });
}

// All but the tables of offsets, whose size is that of an image.
Parameters SizesOf(const NodeSignature& node, int threads) {
  Parameters p;
  const ConvGeometry& g = p.geometry = ConvGeometryOf(node);
  p.threads = ConvThreads(g, threads);
  p.parts = std::min<int64_t>(p.threads, g.images);
  p.batch = std::clamp<int64_t>(kDepth / g.output_plane(), 1, DivideUp(g.images, p.parts));
  p.depth = DivideUp(p.batch * g.output_plane(), DivideUp(p.batch * g.output_plane(), kDepth));
  p.image_step = g.padded ? g.padded_elements() : g.groups * g.group_input();
  p.lines = DivideUp(g.filters, kTileLanes) * kTileLanes;
  const int64_t vectors = p.lines / kTileLanes;
  p.vectors = DivideUp(vectors, DivideUp(vectors, kMostTileVectors));
  p.tiles = RowTilesOf(g.taps(), p.vectors);
  return p;
}

PreparedKernel Prepare(const KernelRequest& request) {
  Parameters p = SizesOf(request.node, request.threads);
  p.taps = p.geometry.TapOffsets();
  p.pixels = p.geometry.PixelOffsets();
  const size_t pixels = p.pixels.size();
  for (size_t i = pixels; i < static_cast<size_t>(p.batch) * pixels; ++i) {
    p.pixels.push_back(p.pixels[i - pixels] + p.image_step);
  }
  return PreparedKernel::Of(&Run, std::move(p));
}

KernelDef tiled_conv_weight_grad() {
  return DefineTiled<&SizesOf, &TiledWeightGradSeconds>("cpu.conv_weight_grad", Prepare);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(tiled_conv_weight_grad)

}  // namespace cgrun::cpu
#endif
