// Computes conv_weight_grad of f32: the taps as they lie in the images times the pixels of dy,
// filters side by side. Each part adds up its images in their order. Then the sums of the parts are
// added in theirs. Fused with max_pool_grad, each part makes the pixels of its images as it comes
// to them.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/tiled_conv_weight_grad.cc"
#include <hwy/foreach_target.h>
//
#include "src/ir/op_def.h"
#include "src/kernels/cpu/conv_panels.h"
#include "src/kernels/cpu/conv_seconds.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/max_pool_planes.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/tiled_conv.h"
#include "src/kernels/cpu/transpose_tiles.h"
#include "src/kernels/fused_conv.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

using Tiles = TileTable<OffsetRows>;

constexpr int64_t kDepth = 512;  // pixels for which a tile of sums stays in registers

struct Parameters {
  ConvGeometry geometry;
  std::vector<int64_t> taps;
  std::vector<int64_t> pixels;   // of `batch` images, one after another
  int64_t batch = 1;             // images whose pixels are added up together
  int64_t depth = 0;             // pixels, at most, that are
  int64_t image_step = 0;        // elements between images that `pixels` sees
  int64_t lines = 0;             // filters of a group, with what fills up the last vector
  int64_t vectors = 0;           // of a tile
  RowTiles tiles;                // of taps
  int threads = 1;               // of the thread team, which is never smaller than the run's
  int64_t parts = 1;             // into which the images go: no more than threads or images
  bool single_threaded = false;  // one thread does the parts one after another
  bool unpools = false;
  MaxUnpool unpool;

  // The workspace: for each part sums [groups, taps, lines], a panel, padded planes and what is
  // unpooled of dy, one group of `batch` images. Alone, the first part has that, and all others
  // together have sums.
  int64_t group_sums() const { return geometry.taps() * lines; }
  int64_t sums() const { return RoundToLines(geometry.groups * group_sums()); }
  int64_t panel() const { return RoundToLines(depth * lines); }
  int64_t planes() const { return RoundToLines(batch * geometry.padded_elements()); }
  int64_t unpooled() const { return unpools ? RoundToLines(batch * geometry.group_output()) : 0; }
  int64_t of_part() const { return sums() + panel() + planes() + unpooled(); }
  int64_t workspace() const {
    return single_threaded ? of_part() + (parts > 1 ? sums() : 0) : parts * of_part();
  }
};

// Images that are added up together, and pixels of theirs.
struct Chunk {
  int64_t image = 0, images = 0;
  int64_t first = 0, end = 0;  // pixels of all of `images`, or of the one
};

// Holds the tensors that the gradient is made from. If dy has been pooled, `index` is there too.
struct Operands {
  const float* x;
  const float* dy;
  const std::byte* index;
};

// Says where dy of one group of a chunk's images lies: the group of the first image, and the
// elements to the next.
struct GroupPixels {
  const float* first;
  int64_t step;
};
GroupPixels PixelsOf(const Parameters& p, const Operands& operands, const Chunk& chunk,
                     int64_t group, float* unpooled) {
  const ConvGeometry& g = p.geometry;
  const int64_t map = chunk.image * g.groups + group;
  if (!p.unpools) return {operands.dy + map * g.group_output(), g.groups * g.group_output()};
  for (int64_t n = 0; n < chunk.images; ++n) {
    for (int64_t f = 0; f < g.filters; ++f) {
      p.unpool.run(p.unpool, operands.index, operands.dy, (map + n * g.groups) * g.filters + f,
                   unpooled + (n * g.filters + f) * g.output_plane());
    }
  }
  return {unpooled, g.group_output()};
}

// panel[pixel][filter] ← dy of one group.
void PackPixels(const Parameters& p, const Chunk& chunk, const GroupPixels& dy, float* panel) {
  const ConvGeometry& g = p.geometry;
  const int64_t count = std::min(chunk.end - chunk.first, g.output_plane());
  for (int64_t n = 0; n < chunk.images; ++n) {
    TransposeBand(Bits(dy.first + n * dy.step + chunk.first), g.output_plane(),
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
      product.columns.b = panel + line;
      Tiles::Run(product, rows, vectors);
      AddResults(p, results, rows, vectors, add, sums + tap * p.lines + line);
    }
  }
}

// Points to the memory that a part works in.
struct PartMemory {
  float* sums;
  float* panel;  // planes and what is unpooled lie behind it
};

// One group of some images, up to `batch`.
void AddImages(const Parameters& p, const Operands& operands, int64_t group, Chunk chunk, bool add,
               const PartMemory& memory) {
  const ConvGeometry& g = p.geometry;
  float *panel = memory.panel, *planes = panel + p.panel();
  const GroupPixels dy = PixelsOf(p, operands, chunk, group, planes + p.planes());
  const float* image = operands.x + (chunk.image * g.groups + group) * g.group_input();
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
    PackPixels(p, chunk, dy, panel);
    AddChunk(p, chunk, image, panel, add || first > 0, memory.sums + group * p.group_sums());
  }
}

// Computes the sums of a part's images.
void SumImages(const Parameters& p, const Operands& operands, int64_t part,
               const PartMemory& memory) {
  const int64_t images = p.geometry.images;
  const int64_t begin = images * part / p.parts, end = images * (part + 1) / p.parts;
  std::fill_n(memory.panel, p.panel() + p.planes(), 0.0F);
  for (int64_t image = begin; image < end; image += p.batch) {
    const Chunk chunk{image, std::min(p.batch, end - image), 0, 0};
    for (int64_t group = 0; group < p.geometry.groups; ++group) {
      AddImages(p, operands, group, chunk, image > begin, memory);
    }
  }
}

// sums += those of another part, rows of taps [begin, end) of all groups.
void AddSums(const Parameters& p, int64_t begin, int64_t end, const float* other, float* sums) {
  const F32 d;
  for (int64_t at = begin * p.lines; at < end * p.lines; at += kTileLanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, sums + at), hn::LoadU(d, other + at)), d, sums + at);
  }
}

// dweight ← sums, transposed, of rows of taps [begin, end) of all groups.
void TransposeSums(const Parameters& p, int64_t begin, int64_t end, const float* sums,
                   float* dweight) {
  const ConvGeometry& g = p.geometry;
  while (begin < end) {
    const int64_t group = begin / g.taps(), tap = begin % g.taps();
    const int64_t count = std::min(end - begin, g.taps() - tap);
    TransposeBand(Bits(sums + begin * p.lines), p.lines,
                  Bits(dweight + group * g.group_weight() + tap), g.taps(), count, g.filters);
    begin += count;
  }
}

// Part after part, each of which is added to the first.
void RunSingleThreaded(const Parameters& p, const Operands& operands, float* dweight,
                       float* workspace) {
  const int64_t rows = p.geometry.groups * p.geometry.taps();
  const PartMemory first{workspace, workspace + p.sums()};
  SumImages(p, operands, 0, first);
  for (int64_t part = 1; part < p.parts; ++part) {
    const PartMemory other{workspace + p.of_part(), first.panel};
    SumImages(p, operands, part, other);
    AddSums(p, 0, rows, other.sums, first.sums);
  }
  TransposeSums(p, 0, rows, first.sums, dweight);
}

void RunOn(const Parameters& p, const Operands& operands, float* dweight,
           float* workspace) noexcept {
  if (p.single_threaded) return RunSingleThreaded(p, operands, dweight, workspace);
  Split(p.threads, p.parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      float* memory = workspace + part * p.of_part();
      SumImages(p, operands, part, {memory, memory + p.sums()});
    }
  });
  Split(p.threads, p.geometry.groups * p.geometry.taps(), kTransposeTile,
        [&](int64_t begin, int64_t end) {
          for (int64_t part = 1; part < p.parts; ++part) {
            AddSums(p, begin, end, workspace + part * p.of_part(), workspace);
          }
          TransposeSums(p, begin, end, workspace, dweight);
        });
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  RunOn(*static_cast<const Parameters*>(i.parameters),
        {Data<const float>(context, i, 0), Data<const float>(context, i, 1), nullptr},
        Data<float>(context, i, 2), Data<float>(context, i, 3));
}

void RunUnpooled(const RunContext& context, const Instruction& i) noexcept {
  RunOn(*static_cast<const Parameters*>(i.parameters),
        {Data<const float>(context, i, 2), Data<const float>(context, i, 1),
         Data<const std::byte>(context, i, 0)},
        Data<float>(context, i, 3), Data<float>(context, i, 4));
}

// All but the tables of offsets, whose size is that of an image.
Parameters SizesOf(const NodeSignature& node, int threads) {
  Parameters p;
  p.unpools = node.op == OpId::fused;
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

// Returns the sizes for one thread that gives the sums of a thread team.
Parameters SizesSingleThreaded(const NodeSignature& node, int thread_team) {
  Parameters p = SizesOf(node, thread_team);
  p.single_threaded = true;
  return p;
}

PreparedKernel Prepare(const KernelRequest& request) {
  Parameters p = request.thread_team > request.threads
                     ? SizesSingleThreaded(request.node, request.thread_team)
                     : SizesOf(request.node, request.threads);
  p.taps = p.geometry.TapOffsets();
  p.pixels = p.geometry.PixelOffsets();
  const size_t pixels = p.pixels.size();
  for (size_t i = pixels; i < static_cast<size_t>(p.batch) * pixels; ++i) {
    p.pixels.push_back(p.pixels[i - pixels] + p.image_step);
  }
  if (!p.unpools) return PreparedKernel::Of(&Run, std::move(p));
  p.unpool = MaxUnpool::Of(SignaturesInBody(request.node)[0]);
  return PreparedKernel::Of(&RunUnpooled, std::move(p));
}

// `def` as one whose threads have sums of their own.
KernelDef WithSumsByTeam(KernelDef def) {
  def.by_team = AlwaysByTeam;
  def.single_threaded_workspace = [](const NodeSignature& node, int thread_team) {
    return SizesSingleThreaded(node, thread_team).workspace() * static_cast<int64_t>(sizeof(float));
  };
  return def;
}

KernelDef tiled_conv_weight_grad() {
  return WithSumsByTeam(
      DefineTiled<&SizesOf, &TiledWeightGradSeconds>("cpu.conv_weight_grad", Prepare));
}

KernelDef tiled_unpooled_weight_grad() {
  KernelDef def = WithSumsByTeam(DefineTiled<&SizesOf, &UnpooledWeightGradSeconds>(
      "cpu.max_pool_grad_conv_weight_grad", Prepare));
  def.supports = [](const NodeSignature& node) {
    return IsUnpooled(node, OpId::conv_weight_grad, {2, -1}) && UnpoolsF32(node);
  };
  return def;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(tiled_conv_weight_grad)
CGRUN_CPU_KERNEL(tiled_unpooled_weight_grad)

}  // namespace cgrun::cpu
#endif
