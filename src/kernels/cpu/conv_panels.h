// Packs what convolutions by tiles multiply: weights as rows of tiles, and patches of an image as
// columns of tiles. Each target of Highway includes this file once.
#if defined(CGRUN_KERNELS_CPU_CONV_PANELS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_CONV_PANELS_H_
#undef CGRUN_KERNELS_CPU_CONV_PANELS_H_
#else
#define CGRUN_KERNELS_CPU_CONV_PANELS_H_
#endif

#include <algorithm>

#include "src/kernels/cpu/conv_geometry.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/cpu/product_tile.h"
#include "src/kernels/kernel.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

// Parts of a workspace begin at whole cache lines.
inline constexpr int64_t RoundToLines(int64_t floats) { return DivideUp(floats, 16) * 16; }

// Vectors in a row of a tile with `rows` rows and `columns` columns to go: more of them where the
// rows are few.
inline int64_t TileVectors(int64_t rows, int64_t columns) {
  int64_t vectors = kMostTileVectors;
  while (vectors > 2 && MostTileRows(static_cast<int>(vectors)) < rows) --vectors;
  return std::min(vectors, DivideUp(columns, kTileLanes));
}

// Some rows in tiles as even as can be.
struct RowTiles {
  int64_t rows = 0;
  int64_t tiles = 0;

  int64_t First(int64_t tile) const { return EvenPart(rows, tiles, tile); }
  int64_t Rows(int64_t tile) const { return First(tile + 1) - First(tile); }
};

inline RowTiles RowTilesOf(int64_t rows, int64_t vectors) {
  return {rows, DivideUp(rows, MostTileRows(static_cast<int>(vectors)))};
}

// The runs of a tile of pixels.
struct Runs {
  const PixelRun* first;
  const PixelRun* last;
  const PixelRun* begin() const { return first; }
  const PixelRun* end() const { return last; }
};
inline Runs RunsOf(const PixelTiles& tiles, int64_t tile) {
  const auto t = static_cast<size_t>(tile);
  return {tiles.runs.data() + tiles.begin[t], tiles.runs.data() + tiles.begin[t + 1]};
}

// to[j] ← from[j·stride] for the pixels of a run; may write a whole vector.
HWY_INLINE void CopyRun(const float* from, int64_t stride, int64_t count, float* to) {
  const F32 d;
  if (stride == 1) {
    hn::StoreU(LoadSome(d, from, count), d, to);
  } else {
    for (int64_t j = 0; j < count; ++j) to[j] = from[j * stride];
  }
}

// to[j·stride] += from[j] for the pixels of a run.
HWY_INLINE void AddRun(const float* from, int64_t stride, int64_t count, float* to) {
  const F32 d;
  if (stride == 1) {
    StoreSome(d, hn::Add(LoadSome(d, to, count), LoadSome(d, from, count)), to, count);
  } else {
    for (int64_t j = 0; j < count; ++j) to[j * stride] += from[j];
  }
}

// Packs a panel of a tile of pixels: for each tap what the pixels see, and any numbers behind the
// last pixel. The panel has room for a vector more. If a run writes too far, the next one writes
// there again.
inline void PackPatches(const PixelTiles& tiles, int64_t tile, const std::vector<int64_t>& taps,
                        int64_t stride, const float* image, float* panel) {
  const Runs runs = RunsOf(tiles, tile);
  const int64_t* tap = taps.data();
  for (size_t k = 0; k < taps.size(); ++k, panel += tiles.width) {
    const float* seen = image + tap[k];
    for (const PixelRun& run : runs) {
      CopyRun(seen + run.from, stride, run.count, panel + run.column);
    }
  }
}

// Adds results, a row of `width` for each tap, to an image where the pixels of a tile see it.
inline void ScatterPatches(const PixelTiles& tiles, int64_t tile, const int64_t* taps, int64_t rows,
                           int64_t stride, const float* results, int64_t width, float* image) {
  for (const PixelRun& run : RunsOf(tiles, tile)) {
    const float* from = results + run.column;
    float* seen = image + run.from;
    for (int64_t r = 0; r < rows; ++r) {
      AddRun(from + r * width, stride, run.count, seen + taps[r]);
    }
  }
}

inline bool IsForTiles(const NodeSignature& node) { return AllF32(node) && NoneIsEmpty(node); }

// A fused node that begins with max_pool_grad, none of whose numbers but the winners are of another
// type than f32.
inline bool UnpoolsF32(const NodeSignature& node) {
  const auto is_f32 = [](const TensorType& type) { return type.dtype == DType::kF32; };
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(), is_f32) && NoneIsEmpty(node);
}

// Defines a kernel by tiles. `kSizesOf` gives its parameters, but for what is as large as an image,
// with the floats of its workspace. `kSeconds` is one of conv_seconds.h.
template <auto kSizesOf, double (*kSeconds)(const NodeSignature&, int64_t lanes, int threads)>
KernelDef DefineTiled(std::string_view name, PreparedKernel (*prepare)(const KernelRequest&)) {
  KernelDef def{.name = name, .supports = IsForTiles, .prepare = prepare};
  def.workspace_bytes = [](const NodeSignature& node, int threads) {
    return kSizesOf(node, threads).workspace() * static_cast<int64_t>(sizeof(float));
  };
  def.seconds = [](const NodeSignature& node, int threads) {
    return kSeconds(node, kTileLanes, threads);
  };
  return def;
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_CONV_PANELS_H_
