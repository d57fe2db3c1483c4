// Computes the gradient of a linear layer's input: a·b of f32, with `a` the gradient of its result
// and `b` its weight. The rows of `a` are packed. Strips of b's columns, each read once, then go
// with one tile of rows after another through the registers. Each sum stays in one register from
// the first step to the last, so that its bits depend neither on the threads nor on the batch.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/input_product.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/conv_panels.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/input_product.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/product_seconds.h"
#include "src/kernels/cpu/transpose_tiles.h"
#include "src/ops/matmul.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct InputProduct {
  int64_t rows = 0, columns = 0, depth = 0;  // y[rows, columns]
  int64_t vectors = 0;                       // of a strip of columns
  RowTiles tiles;                            // of rows
  int threads = 1;

  static InputProduct Of(const NodeSignature& node, int threads) {
    InputProduct p;
    const Shape &a = node.inputs[0].shape, &b = node.inputs[1].shape;
    p.rows = a[0].size;
    p.depth = a[1].size;
    p.columns = b[1].size;
    p.vectors = TileVectors(p.rows, p.columns);
    p.tiles = RowTilesOf(p.rows, p.vectors);
    p.threads = OperandBytes(node) < LeastParallelBytes(Work::kComputes) ? 1 : threads;
    return p;
  }

  int64_t width() const { return vectors * kTileLanes; }
  int64_t strips() const { return DivideUp(columns, width()); }

  // The workspace holds all rows, and then one strip for each thread.
  int64_t packed_a() const { return RoundToLines(rows * depth); }
  int64_t packed_b() const { return width() * depth; }
  int64_t workspace() const { return packed_a() + threads * packed_b(); }
};

// panel[step][column] ← `count` columns of b, of which `b` points to the first, with zeros behind
// the last.
void PackStrip(const InputProduct& p, const float* b, int64_t count, float* panel) {
  const F32 d;
  for (int64_t step = 0; step < p.depth; ++step, b += p.columns, panel += p.width()) {
    for (int64_t j = 0; j < p.width(); j += kTileLanes) {
      hn::StoreU(count - j >= kTileLanes ? hn::LoadU(d, b + j)
                                         : LoadSome(d, b + j, std::max<int64_t>(0, count - j)),
                 d, panel + j);
    }
  }
}

// All rows of a strip of `count` columns, of which `y` points to the first.
void RunStrip(const InputProduct& p, const float* packed_a, const float* panel, int64_t count,
              float* y) {
  const F32 d;
  HWY_ALIGN float results[kMostResults];
  const bool is_whole = count == p.width();
  for (int64_t tile = 0; tile < p.tiles.tiles; ++tile) {
    const int64_t row = p.tiles.First(tile), rows = p.tiles.Rows(tile);
    float* to = y + row * p.columns;
    TileTable<PackedRows>::Run({{packed_a + row * p.depth},
                                panel,
                                p.width(),
                                p.depth,
                                is_whole ? to : results,
                                is_whole ? p.columns : 0},
                               rows, p.vectors);
    for (int64_t r = 0; !is_whole && r < rows; ++r) {
      for (int64_t j = 0; j < count; j += kTileLanes) {
        StoreSome(d, hn::LoadU(d, results + r * p.width() + j), to + r * p.columns + j,
                  std::min(kTileLanes, count - j));
      }
    }
  }
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const InputProduct*>(i.parameters);
  const auto *a = Data<const float>(context, i, 0), *b = Data<const float>(context, i, 1);
  float *y = Data<float>(context, i, 2), *packed_a = Data<float>(context, i, 3);
  Split(p.threads, p.tiles.tiles, 1, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t row = p.tiles.First(tile), rows = p.tiles.Rows(tile);
      TransposeBand(Bits(a + row * p.depth), p.depth, Bits(packed_a + row * p.depth), rows, rows,
                    p.depth);
    }
  });
  SplitParts(p.threads, p.strips(), 1, [&](int part, int64_t begin, int64_t end) {
    float* panel = packed_a + p.packed_a() + part * p.packed_b();
    for (int64_t column = begin * p.width(); column < std::min(end * p.width(), p.columns);
         column += p.width()) {
      const int64_t count = std::min(p.width(), p.columns - column);
      PackStrip(p, b + column, count, panel);
      RunStrip(p, packed_a, panel, count, y + column);
    }
  });
}

double Seconds(const NodeSignature& node, int threads) {
  const auto flops = static_cast<double>(CostOf(node).flops);
  return ProductSeconds(node, flops, kInputProductFlopsPerSecond, threads);
}

KernelDef input_product() {
  return {.name = "cpu.input_product",
          .supports = IsInputProduct,
          .workspace_bytes =
              [](const NodeSignature& node, int threads) {
                return InputProduct::Of(node, threads).workspace() *
                       static_cast<int64_t>(sizeof(float));
              },
          .prepare =
              [](const KernelRequest& request) {
                return PreparedKernel::Of(&Run, InputProduct::Of(request.node, request.threads));
              },
          .seconds = Seconds};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {
namespace {

// A strip is packed for this many rows at least: for fewer that takes too much of the time.
constexpr int64_t kLeastRows = 24;
// Packed rows, and strips, stay in a second-level cache.
constexpr int64_t kMostPackedFloats = 128 << 10;
constexpr int64_t kMostDepth = 1024;
constexpr int64_t kLeastColumns = 32;

}  // namespace

bool IsInputProduct(const NodeSignature& node) {
  if (node.op != OpId::matmul || !HasVectorTarget() || !AllF32(node)) return false;
  const auto& attributes = node.attributes.As<MatmulAttributes>();
  const Shape &a = node.inputs[0].shape, &b = node.inputs[1].shape;
  if (attributes.transpose_a || attributes.transpose_b || a.rank() != 2 || b.rank() != 2) {
    return false;
  }
  const int64_t rows = a[0].size, depth = a[1].size;
  return rows >= kLeastRows && depth > 0 && depth <= kMostDepth && b[1].size >= kLeastColumns &&
         rows * depth <= kMostPackedFloats;
}

CGRUN_CPU_KERNEL(input_product)

}  // namespace cgrun::cpu
#endif
