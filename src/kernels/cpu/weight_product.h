// Computes the gradient of a linear layer's weight: aᵀ·b of f32, with `a` the gradient of its
// result and `b` its input. A block of b's columns is packed, then goes with one tile of rows after
// another through the registers. Each sum stays in one register from the first step to the last.
// Its bits therefore depend neither on the threads nor on what becomes of it. Each target of
// Highway includes this file once.
#if defined(CGRUN_KERNELS_CPU_WEIGHT_PRODUCT_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_WEIGHT_PRODUCT_H_
#undef CGRUN_KERNELS_CPU_WEIGHT_PRODUCT_H_
#else
#define CGRUN_KERNELS_CPU_WEIGHT_PRODUCT_H_
#endif

#include <algorithm>
#include <cstring>

#include "src/kernels/cpu/conv_panels.h"
#include "src/kernels/cpu/is_weight_product.h"
#include "src/kernels/cpu/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

struct WeightProduct {
  static constexpr int64_t kBlockFloats = 256 << 10;  // of one b: well within a last-level cache
  static constexpr int64_t kBlockColumns = 2048;      // that lie side by side in what is updated
  static constexpr int64_t kStripFloats = 32 << 10;   // of b: well within a second-level cache

  int64_t rows = 0, columns = 0, depth = 0;
  int64_t vectors = 0;  // of a tile
  RowTiles tiles;       // of rows
  int64_t strips = 0;   // of columns, each as wide as a tile, in a block
  bool holds = false;   // a tile of rows of results, for one who wants to go on with them
  int threads = 1;

  // `product` is the signature of the matmul; `node`, of which it may be a part, runs.
  static WeightProduct Of(const NodeSignature& product, const NodeSignature& node, int threads) {
    WeightProduct p;
    const Shape &a = product.inputs[0].shape, &b = product.inputs[1].shape;
    p.depth = a[0].size;
    p.rows = a[1].size;
    p.columns = b[1].size;
    p.vectors = std::min(TileVectors(p.rows, p.columns),
                         std::max<int64_t>(1, kStripFloats / (p.depth * kTileLanes)));
    p.tiles = RowTilesOf(p.rows, p.vectors);
    const int64_t most = std::min(kBlockFloats / (p.depth * p.width()), kBlockColumns / p.width());
    const int64_t all = DivideUp(p.columns, p.width());
    p.strips = DivideUp(all, DivideUp(all, std::max<int64_t>(1, most)));
    p.holds = product.op != node.op;
    p.threads = OperandBytes(node) < LeastParallelBytes(Work::kComputes) ? 1 : threads;
    return p;
  }

  int64_t width() const { return vectors * kTileLanes; }  // of a strip
  int64_t block() const { return strips * width(); }      // columns
  int64_t most_rows() const { return DivideUp(rows, tiles.tiles); }

  // The workspace holds a block of b. For each thread it holds a tile's rows of a and its results.
  int64_t packed_b() const { return RoundToLines(depth * block()); }
  int64_t packed_a() const { return RoundToLines(depth * most_rows()); }
  int64_t held() const { return holds ? RoundToLines(most_rows() * block()) : 0; }
  int64_t workspace() const { return packed_b() + threads * (packed_a() + held()); }
};

// Steps [begin, end) of panel[strip][step][column] ← columns [first, first + count) of b, with
// zeros behind the last.
inline void PackColumns(const WeightProduct& p, const float* b, int64_t first, int64_t count,
                        int64_t begin, int64_t end, float* panel) {
  const F32 d;
  for (int64_t step = begin; step < end; ++step) {
    const float* from = b + step * p.columns + first;
    for (int64_t strip = 0; strip * p.width() < count; ++strip) {
      float* to = panel + (strip * p.depth + step) * p.width();
      const int64_t here = std::min(p.width(), count - strip * p.width());
      for (int64_t j = 0; j < here; j += kTileLanes) {
        hn::StoreU(LoadSome(d, from + strip * p.width() + j, std::min(kTileLanes, here - j)), d,
                   to + j);
      }
    }
  }
}

// panel[step][row] ← the rows of a tile.
inline void PackRowsOfTile(const WeightProduct& p, const float* a, int64_t first, int64_t rows,
                           float* panel) {
  for (int64_t step = 0; step < p.depth; ++step) {
    std::memcpy(panel + step * rows, a + step * p.rows + first,
                static_cast<size_t>(rows) * sizeof(float));
  }
}

// A tile of rows of a block of columns: to[row·stride + column]. before(column, count) is called
// before a strip is computed.
template <class Before>
void RunRowsOfTile(const WeightProduct& p, const float* packed_a, const float* packed_b,
                   int64_t rows, int64_t count, float* to, int64_t stride, const Before& before) {
  const F32 d;
  HWY_ALIGN float results[kMostResults];
  TileProduct<PackedRows> product{{packed_a}, packed_b, p.width(), p.depth};
  for (int64_t column = 0; column < count; column += p.width()) {
    const int64_t here = std::min(p.width(), count - column);
    before(column, here);
    const bool is_whole = here % kTileLanes == 0;
    product.results = is_whole ? to + column : results;
    product.results_stride = is_whole ? stride : 0;
    TileTable<PackedRows>::Run(product, rows, DivideUp(here, kTileLanes));
    product.columns.b += p.depth * p.width();
    if (is_whole) continue;
    const float* from = results;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < here; j += kTileLanes, from += kTileLanes) {
        StoreSome(d, hn::LoadU(d, from), to + r * stride + column + j,
                  std::min(kTileLanes, here - j));
      }
    }
  }
}

// Says where the results go. Without p.holds, all of them go to `to`. With p.holds, part of a row
// after another goes to take(user, row, column, count, sums). A call of expect(user, row, column,
// count) announces it while there is time to fetch what it needs. A call is worth its price, as it
// serves part of a row: the product is compiled once for all users.
struct ProductConsumer {
  float* to = nullptr;
  const void* user = nullptr;
  void (*expect)(const void* user, int64_t row, int64_t column, int64_t count) = nullptr;
  void (*take)(const void* user, int64_t row, int64_t column, int64_t count,
               const float* sums) = nullptr;
};

// Runs tiles [begin, end) of rows of a block of columns, the last first. A cache may still hold
// what the forward pass read last of a weight. The next pass begins where this one ends.
inline void RunTilesOfRows(const WeightProduct& p, const float* a, const float* packed_b,
                           int64_t column, int64_t count, int64_t begin, int64_t end, float* memory,
                           const ProductConsumer& consumer) {
  float *packed_a = memory, *held = memory + p.packed_a();
  for (int64_t tile = end; tile-- > begin;) {
    const int64_t row = p.tiles.First(tile), rows = p.tiles.Rows(tile);
    PackRowsOfTile(p, a, row, rows, packed_a);
    RunRowsOfTile(p, packed_a, packed_b, rows, count,
                  p.holds ? held : consumer.to + row * p.columns + column,
                  p.holds ? p.block() : p.columns, [&](int64_t at, int64_t width) {
                    if (consumer.expect == nullptr) return;
                    for (int64_t r = 0; r < rows; ++r) {
                      consumer.expect(consumer.user, row + r, column + at, width);
                    }
                  });
    if (consumer.take == nullptr) continue;
    for (int64_t r = 0; r < rows; ++r) {
      consumer.take(consumer.user, row + r, column, count, held + r * p.block());
    }
  }
}

// The product, a block of columns after another.
inline void RunWeightProduct(const WeightProduct& p, const float* a, const float* b,
                             float* workspace, const ProductConsumer& consumer) noexcept {
  float* of_threads = workspace + p.packed_b();
  for (int64_t column = 0; column < p.columns; column += p.block()) {
    const int64_t count = std::min(p.block(), p.columns - column);
    Split(p.threads, p.depth, 1, [&](int64_t begin, int64_t end) {
      PackColumns(p, b, column, count, begin, end, workspace);
    });
    SplitParts(p.threads, p.tiles.tiles, 1, [&](int part, int64_t begin, int64_t end) {
      RunTilesOfRows(p, a, workspace, column, count, begin, end,
                     of_threads + part * (p.packed_a() + p.held()), consumer);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_WEIGHT_PRODUCT_H_
